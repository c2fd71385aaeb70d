"""The words that the rules know: abbreviations by what may follow them, and words that open sentences.

All in lower case, without the final full stop. A kind decides what a following capital means.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# A name follows: never an end.
TITLES = _words(
    "mr mrs ms mx dr prof hon rev fr gen sen rep gov lt col capt sgt maj adm cmdr cpl pvt messrs mmes "
    "mme mlle supt det insp pres atty amb sec'y drs profs gens sens reps mt ft dir"
)
# Something always follows that belongs to the sentence.
LEADING = _words("e.g i.e eg ie vs v cf viz approx incl excl resp ca c.f a.k.a d.b.a f.k.a n.b")
# A number, letter or sign follows when they are abbreviations.
REFERENCES = _words(
    "no nos n° nr p pp pg pgs sec secs sect art arts fig figs eq eqs eqn ch chs chap vol vols par para "
    "paras cl ex exh exhs app apps tab tbl ref refs rm op reg regs sch sched pt pts stat cir tit ver "
    "vers r.r ste apt yr fy ext tel fl lot bk ln ll col cols ser suppl § pl bd"
)
# A name, a number or the next sentence may follow: companies, courts, places, states, streets, degrees.
TRAILING = _words(
    "adj pat appl dkt inc corp co cos ltd llc llp lp plc bros intl int'l mfg assn ass'n assoc assocs "
    "dept div univ inst natl nat'l govt gov't bancorp hldgs grp sa nv ag gmbh pte pty jr sr esq ph.d ct "
    "cts fed supp dist st ave blvd rd dr hwy pkwy sq bldg ala ariz ark cal calif colo conn del fla ga "
    "ill ind kan ky la mass mich minn miss mo mont neb nev okla ore pa penn tenn tex va vt wash wis wyo "
    "me md comm commn comm'n admin int tech elec sci med econ hist rev rept rep bus prof evid civ crim "
    "proc ed eds trans est max min avg std misc temp ctr cty cnty twp jan feb mar apr jun jul aug sep "
    "sept oct nov dec mon tue tues wed thu thur thurs fri sat sun al exec mgr asst acct mgmt dev sys op "
    "ops annot approx aff'd rev'd cert ret fwd pub pubs publ repr unpub app'x exch transp auth hosp eng "
    "engrs svc svcs mktg pharm"
)
DAYS = _words("mon tue tues wed thu thur thurs fri sat sun")
MONTHS = _words("jan feb mar apr jun jul aug sep sept oct nov dec")
# Abbreviations only after a number.
UNITS = _words(
    "in ft yd mi lb lbs oz gal pt qt sq cu min hr hrs sec secs yr yrs mo mos wk wks mm cm km kg mg bn "
    "mn m k pts mil bil tn bps doz rpm mph gr"
)
CLOCK = _words("a.m p.m am pm")
ZONES = _words(
    "est edt et cst cdt ct mst mdt mt pst pdt pt gmt utc bst cet eastern central mountain pacific "
    "greenwich london tokyo monday tuesday wednesday thursday friday saturday sunday"
)
# A letter or number after these is a label, and its full stop is an end.
LABELS = _words(
    "exhibit class series schedule appendix annex section part plan type table figure grade group "
    "category option phase tier item note vitamin hepatitis level step rule article chapter clause "
    "paragraph tranche lot unit building suite room gate zone page line column row version release act "
    "title volume form influenza question answer case scenario model team block sections items notes "
    "war"
)
# Numbered headings: "Item 1A. Risk Factors" is one unit.
HEADINGS = _words(
    "item note section article part chapter rule step appendix exhibit schedule figure fig table "
    "question annex sec art lesson unit clause example recommendation"
)
# Names that end in an exclamation mark.
EXCLAIMED = _words("yahoo yum jeopardy ahoy joomla oklahoma mamma hooray oliver")

# Words that open a sentence when they have a capital, and hardly ever continue a name.
STARTERS = _words(
    "the a an this that these those it its it's he she they we you i his her their our my your there "
    "here in on at by for from with without under during after before since until while when whenever "
    "where why what who whose how which if unless although though because as and but or so yet nor "
    "however therefore thus hence moreover furthermore additionally meanwhile nevertheless nonetheless "
    "otherwise instead finally also then such each every all both some many most several any no not "
    "only even do does did is are was were has have had can could should would will must please let "
    "let's to of upon among between through throughout within despite given based excluding including "
    "following once today yesterday tomorrow tonight neither either another other others one two three "
    "four five six seven eight nine ten nothing nobody everyone someone everything something whether "
    "against across about above below beyond over per prior whereas just still again later earlier soon "
    "now rather indeed perhaps maybe consider assume suppose note see don't doesn't didn't can't won't "
    "isn't i'm i've i'd i'll we're we've they're you're that's there's what's he's she's revenue "
    "revenues sales net gross operating total management shares results demand costs expenses profits "
    "earnings margins investors analysts customers employees shareholders stockholders more less fewer "
    "much few overall compared adjusted cash last next first second third approximately nearly roughly "
    "recently currently typically generally historically substantially previously subsequently "
    "consequently similarly accordingly specifically particularly especially certain"
)
# Those that open sentences even in a text without capitals, where the others mostly go on.
STRONG_STARTERS = _words(
    "the this these those it we they he she there however during although our when if while under"
)
# Lower-case words that, second after a company's full stop, show that a sentence has begun.
VERBS = _words(
    "is are was were be has have had will would can could may might must shall should did does do rose "
    "fell grew gained lost dropped climbed jumped increased decreased declined improved remained "
    "reported said says announced agreed filed expects expected believes plans planned intends "
    "continued continues began became made makes took takes gave gives went came led leads held holds "
    "owns owned operates provides acquired sold bought paid pays declared approved appointed named "
    "joined resigned retired signed won beat missed raised cut lowered posted told noted added argued "
    "ruled affirmed reversed moved sued appealed settled denied granted warned opened closed traded "
    "reached hit showed shows works worked uses"
)
# Words of names, which go on after an abbreviation within the name: "Hale Bros. Holdings filed".
OF_NAMES = _words(
    "holdings group inc corp corporation company co ltd limited llc llp lp plc partners trust bank "
    "bancorp industries international enterprises capital fund funds technologies systems services"
)
# Names that begin with a small letter and have no capital near it.
SMALL_NAMES = _words(
    "adidas lululemon athenahealth bluebird thredup salesforce easyjet npm numpy "
    "pandas pytorch nginx systemd sqlite kubectl git arxiv"
)
PREPOSITIONS = _words("in of and or to at by than about with from under over per until since before after")
