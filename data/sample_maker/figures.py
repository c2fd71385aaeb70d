"""The content of the workbook and the slides."""

from __future__ import annotations

QUARTERLY: dict[str, list[list[object]]] = {
    "Summary": [
        ["Tern & Hollow Furnishings, second quarter 2026", None, None, None],
        ["Thousands of kronor", "Q2 2026", "Q2 2025", "Change %"],
        ["Sales in shops", 48210, 45940, 4.9],
        ["Sales on line", 21775, 17320, 25.7],
        ["Sales to trade", 9640, 11205, -14.0],
        ["Gross margin", 33180, 30415, 9.1],
        ["Rent and energy", 8920, 8655, 3.1],
        ["Wages", 14360, 13790, 4.1],
        ["Operating result", 6105, 4870, 25.4],
    ],
    "Shops": [
        ["Shop", "Opened", "Floor m2", "Sales Q2 2026", "Sales Q2 2025", "Staff", "Remark"],
        ["Sandhamn", 1998, 2400, 14120, 13870, 41, "flagship, rebuilt in March"],
        ["Vråna", 2004, 1150, 6035, 6210, 17, "lease ends 2027-02"],
        ["Holmgate", 2009, 1800, 10480, 9925, 29, ""],
        ["Ekstad", 2013, 950, 4190, 4375, 13, "closing proposed"],
        ["Norrby", 2018, 1320, 7265, 6430, 20, "parking doubled"],
        ["Kvarnholm", 2022, 1080, 6120, 5130, 16, "new kitchens"],
    ],
    "Products": [
        ["Article", "Line", "Price", "Sold Q2", "Returned Q2", "In stock", "Supplier"],
        ["TH-1001", "Hollow table", 8990, 268, 31, 74, "Lindqvist Oak"],
        ["TH-1002", "Hollow bench", 3490, 341, 9, 122, "Lindqvist Oak"],
        ["TH-2010", "Tern armchair", 6290, 415, 22, 60, "Marsh Upholstery"],
        ["TH-2011", "Tern footstool", 1890, 502, 14, 143, "Marsh Upholstery"],
        ["TH-3005", "Reed shelf, low", 2450, 733, 41, 310, "Balk & Son"],
        ["TH-3006", "Reed shelf, high", 3950, 388, 37, 165, "Balk & Son"],
        ["TH-4100", "Dune lamp", 1290, 1204, 88, 540, "Lumen Verkstad"],
        ["TH-4101", "Dune lamp, small", 890, 1650, 61, 715, "Lumen Verkstad"],
        ["TH-5200", "Skerry bed 160", 11900, 156, 5, 38, "Balk & Son"],
        ["TH-5201", "Skerry bed 180", 13400, 97, 3, 21, "Balk & Son"],
    ],
    "Notes": [
        ["No.", "Note"],
        [1, "Trade sales fell because the hotel chain Ostvik put off two houses to the autumn."],
        [2, "Sales on line are shown after returns; returns were 9.8 per cent of the gross figure."],
        [3, "The rebuilt flagship was shut for eleven trading days in March, so not in this quarter."],
        [4, "Wages contain a single payment of 420 for the agreement that ended the dispute of May."],
        [5, "Stock was counted on 28 June; the difference from the books was 0.6 per cent."],
    ],
}

BRIEFING = [
    (
        "Opening in Lunde: where we stand",
        ["Lease signed for ten years, break after six", "Floor 1,240 square metres on one level"],
        "The landlord pays for the roof. We asked for a break after five and got six.",
    ),
    (
        "Money",
        [
            "Fit-out 7.4 million kronor",
            "Break-even at 5.2 million sales a quarter",
            "Opening stock 3.1 million",
        ],
        "Fit-out is 0.6 million over the plan because of sprinklers.",
    ),
    (
        "Dates",
        ["Keys on 1 August", "Staff of 15 start on 24 August", "Doors open on 12 September at 10:00"],
        "If the sprinklers are late, the opening moves by two weeks and not by one.",
    ),
]
