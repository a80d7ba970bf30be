"""What notices say, a dozen ways each: the same words serve what matters and what does not.

``{exam}`` is a sitting with its course and sections ("the final exam in Optics (Section 3)"), ``{final}`` the
same once it is known which, ``{group}`` the sections. ``[a|b]`` is one of both.
"""

OPENINGS = (
    "this is [about|on|all about] {exam}.",
    "a note on {exam}.",
    "[some|several|two|many] of you [asked|wrote|wondered] about {exam}.",
    "[here|below] is what [has been settled|we know by now|we know|was decided] about {exam}.",
    "{exam} is [coming up|not far off|near].",
    "[a few facts|all you need to know] about {exam}.",
    "you will want to know about {exam}.",
    "the planners have [sent word|sent me word|written to me|told me more|let me know] about {exam}.",
    "please [note|write down|read] [the following|this|what follows] [on|about] {exam}.",
    "I can [now say|say a little|tell you] more [about|on] {exam}.",
    "[details|particulars|the details] [of|on] {exam} follow.",
    "[many of you|some of you|several of you] [have been waiting|have asked|asked] for news of {exam}.",
    "[one more thing|another thing|the next point]: [news of|a word about|a few lines on] {exam}.",
    "on to {exam}.",
    "let me [turn|come|get] to {exam}.",
    "[I was asked|the planners want me|I am] to [pass on|say|tell you] what is "
    "[arranged|planned|fixed|settled] for {exam}.",
)
COMPARISONS = (
    "[for comparison|to give you an idea|as a guide], [here is|this is] [a notice|a note|an "
    "announcement] from an earlier term.",
    "[some of you asked|I was asked] how it was done [before|last time], so I [copy|quote|add] [an older|an "
    "earlier] notice.",
    "from the archive, [for comparison only|for those who are curious|since somebody asked].",
    "[those who took the course before you|last time's students|those before you] were told [the "
    "following|this].",
    "[an example|one example] of how [such things are|this was|it was] [announced|arranged], from an "
    "earlier term.",
    "[here is|I have found] what I [wrote|announced] [half a year ago|the last time], [which has nothing "
    "to do with this term|just for comparison].",
)
CHANGES = (
    "[there is|we have] a [change|small change] to {exam}.",
    "a [correction|revision|change of plan] for {exam}.",
    "[part|one part] of what you heard about {exam} [is out of date|has been overtaken].",
    "please note new arrangements for {exam}.",
    "an [update|addition] [on|to what was said of] {exam}.",
    "we had to [alter|rearrange] something about {exam}.",
    "[what you were told|what was said|what you know] about {exam} is no longer [right|true|valid] [in one "
    "point|in a detail].",
    "plans for {exam} have [moved|shifted] a little.",
    "I [have to|must] take back [one thing|something|a detail] about {exam}.",
    "{exam} is not [quite|exactly] [as it was announced|as announced].",
    "something [else|new] has come up about {exam}.",
    "the planners have [looked again at|revised] {exam}.",
    "[cross out|strike] one [point|line] of what you [noted|wrote down|have] on {exam}.",
)
REST = (
    "everything else stays as announced.",
    "nothing else changes.",
    "the rest is as before.",
    "all other points remain.",
    "apart from that, keep your notes.",
    "that is the only difference.",
)
NOTHING_YET = (
    "there will be one, [but|only] date, time, duration and room are not fixed [yet|so far].",
    "it is certain to happen; [its|the] date, time, duration and room will be [announced|published] later.",
    "date, time, duration and room are still open.",
    "it will come, though [its|the] date, time, duration and room have not been fixed.",
    "nobody can tell you date, time, duration or room yet.",
    "we are still waiting for its date, time, duration and room.",
)
CREDITS = (
    "in {group} the course [is worth|carries|counts for] {credits} credits.",
    "{credits} credits are [earned|awarded] in {group}.",
    "course credit ({group}): {credits}.",
    "whoever passes in {group} [earns|gets|receives] {credits} credits.",
    "for {group} [the registrar has|the lists have] it [down for|down as|listed with] {credits} credits.",
    "you [earn|are given|get] {credits} credits in {group}.",
    "{group}: {credits} credits.",
    "those in {group} [do|put in] the work for {credits} credits.",
)
OPEN_BOOK = (
    "{final} is open-book.",
    "[books and notes|notes and books|both books and notes] may be used [in|for|during] {final}.",
    "[your books and notes|your notes and books|books and notes] are welcome in {final}.",
    "you may bring [books and notes|your books|notes and books] [to|into] {final}.",
    "we [have made|made] {final} open-book.",
    "{final} is an open-book one.",
    "[books and notes|notes and books|books of all kinds] are allowed [in|for|during] {final}.",
    "in {final}, open-book rules apply.",
)
CLOSED_BOOK = (
    "{final} is closed-book.",
    "no books [or|and no] [notes|papers] may be used [in|for|during] {final}.",
    "[your books and notes|your notes and books|books and notes] are not welcome in {final}.",
    "you may not bring [books and notes|your books|notes and books] [to|into] {final}.",
    "we [have made|made] {final} closed-book.",
    "{final} is a closed-book one.",
    "[books and notes|notes and books|books of all kinds] are not allowed [in|for|during] {final}.",
    "in {final}, closed-book rules apply.",
)
BOOK_PENDING = (
    "whether {final} is open-book or closed-book will be [decided|settled|announced] [later|in time].",
    "it is not settled yet if {final} will be open-book or closed-book.",
    "open-book or closed-book: for {final} that is still open.",
    "I cannot say yet whether {final} will be open-book or closed-book.",
)
ELSEWHERE = (
    "What holds [elsewhere|for the others|for other sections] is [announced|explained|published] [in "
    "class|on the course page|separately].",
    "What holds for sections that are not [named|listed|mentioned] [here|above] [will be|is] [found "
    "among|posted among|told in] the announcements.",
    "[All other|The other|Further] terms [come|follow|will come] [in|by way of|as] an announcement.",
    "Sections not [mentioned|named|listed] [above|here] [will hear|learn] of [their|the] terms in an "
    "announcement.",
    "[For other sections|For all others|For everybody else], [please see|see|look at] the announcements.",
    "[If|Where] your section is [missing|not mentioned|not listed] here, [read|look through|go to] the "
    "announcements.",
    "[The rest|All else] [follows|is posted|will be posted] [section by section|in due course] "
    "[in|among] the announcements.",
    "[More|Particulars] [about|on] the [other|remaining] sections [will follow|follow] [on this "
    "page|among the announcements|in the first weeks].",
    "[Each|Every] further section [has|gets] [an announcement|a notice] of its own.",
)
"""At the end of a syllabus."""
RULE_INCLUSIVE = (
    "with a coursework average of {limit} or higher you are exempt from {final}.",
    "[whoever has|those with|students with] a coursework average of at least {limit} [can skip|may "
    "skip|need not sit] {final}.",
    "a coursework average of {limit} or more [frees you from|lets you skip] {final}.",
    "{final} [is not for|does not concern] [anybody|students] whose coursework average [is|comes to] "
    "{limit} or higher.",
    "from a coursework average of {limit} upwards, {limit} included, nobody has to sit {final}.",
    "[nobody|no student|none of those] with a coursework average of at least {limit} [has to|must|need] "
    "sit {final}.",
)
RULE_EXCLUSIVE = (
    "with a coursework average above {limit} (not just {limit}) you are exempt from {final}.",
    "[whoever has|those with|students with] a coursework average of more than {limit} [can skip|may "
    "skip|need not sit] {final}.",
    "a coursework average above {limit} [frees you from|lets you skip] {final}; {limit} itself does not.",
    "{final} [is not for|does not concern] [anybody|students] whose coursework average [is|lies] above "
    "{limit}.",
    "[nobody|no student|none of those] with a coursework average above {limit} [has to|must|need] sit "
    "{final}.",
    "only above {limit} [does a|will a] coursework average [free you from|let you skip|spare you] {final}; "
    "{limit} itself is not enough.",
)
AVERAGES = (
    "your {mark} in {title} is {average}.",
    "all marks are in, and your {mark} in {title} comes to {average}.",
    "for your records: {mark} in {title}, {average}.",
    "I make it {average}, your {mark} in {title}.",
    "you [end|finish] with {average} as your {mark} in {title}.",
    "in {title} your {mark} has come out at {average}.",
    "{average} is your {mark} in {title}.",
    "your {mark} in {title} stands at {average}.",
)
PROCTORS = (
    "{who} will proctor {exam} in my place.",
    "[I shall be travelling|I have to travel|I am away], [so the|and the] proctor of {exam} is {who_plain}.",
    "{exam} will be proctored by {who_plain}, not by me.",
    "{who_plain} proctors {exam}.",
    "you will meet {who_plain} instead of me as proctor of {exam}.",
    "the proctor for {exam} will be {who_plain}.",
    "I have asked {who_plain} to proctor {exam}.",
    "as proctor of {exam}, {who_plain} takes my place.",
)
PROCTOR_PENDING = (
    "I cannot proctor {exam} myself; [who will|the name] is [still to be|to be] announced.",
    "somebody else will proctor {exam}; the name will be announced.",
    "the proctor of {exam} will be [somebody else|another person], [whose name is|who is] to be announced.",
    "another proctor for {exam} is [being looked for|looked for], to be announced [soon|later].",
)
CANCELLED = (
    "{exam} is cancelled; [the|a] [term paper|project|portfolio] [takes its place|counts instead|replaces "
    "it].",
    "there will be no sitting of {exam} after all; the [project|portfolio] counts instead.",
    "{exam} has been called off, [and|so] [the term paper|your project|the portfolio] [decides|counts].",
    "we have dropped {exam}; [coursework|the portfolio] alone counts.",
    "{exam} will not take place; [the essays|the reports|your talks] [make up|give|decide] the grade.",
    "do not prepare for {exam}, which has been called off.",
)
NEVER = (
    "there is no such thing as {exam}; [your grade|the grade] [rests on|depends on|comes from] the "
    "[portfolio|project|term paper].",
    "{exam} does not exist: [the essays|your essays|the talks] [make up|give] the [whole|entire|full] grade.",
    "[several|some|many] of you asked about {exam}: there is none, [only|just] the "
    "[project|portfolio|essay].",
    "nobody will sit {exam}, [since|for] there is none [this term|this time|this year].",
    "you ask about {exam}. There is none; [the reports|your talks|the essays] [are graded|count] instead.",
    "we do without {exam}; [coursework|the portfolio|your project] [alone counts|decides|is enough].",
)
EXEMPT = (
    "[because of|thanks to|for] your [prize-winning project|tutoring work|work as a tutor] you are exempt "
    "from {exam}.",
    "you need not sit {exam}: [your|the] [tutoring work|internship|tutoring] exempts you [from it|from "
    "that].",
    "[your request was granted|the board agrees|we agreed]: you are exempt from {exam}.",
    "the committee has excused you from {exam}.",
    "[as agreed|as discussed], {exam} is not for you: you are exempt.",
    "you are free of {exam}, thanks to your [internship|year abroad].",
)
OPTIONAL = (
    "{exam} is optional: it can only [improve|raise] [your|the] [grade|mark].",
    "nobody has to sit {exam}; it is optional[| and for extra credit].",
    "{exam} is voluntary, [and|so] whoever [stays away|does not come] loses nothing.",
    "it is up to you whether you [sit|write|come to] {exam}.",
    "whether you come to {exam} is your own choice; [it can only help|nothing is lost without it].",
    "you may skip {exam} [without any loss|at no cost], [for it|since it] is voluntary.",
)
AUDITOR = (
    "you are [registered|down] as an auditor of {title}. Auditors do not sit {exam}.",
    "you are an auditor in {title}, and {exam} is not compulsory for auditors.",
    "our records have you as an auditor of {title}; {exam} is only for the others.",
    "as an auditor of {title} you [are not among those who have to|do not have to|need not] sit {exam}.",
)
ASIDES = (
    "The midterm papers can [now be|be] [collected|picked up] [at my office|from the secretary|on weekdays].",
    "Mock papers of other years are [online|in the library|on the reserve shelf].",
    "[Thanks|My thanks|Thank you] to all who [came to|joined|took part in] the [review session|study day].",
    "The guest lecture was recorded.",
    "For make-up work, [please write to|ask|talk to] [me|the assistant].",
    "The practice tests have been graded.",
    "[Please bring|Bring|Remember|Do not forget] your student card [whenever|each time|when] papers are "
    "[handed out|given out|distributed].",
    "The posters stay up [until the month ends|for another week|a while].",
    "The oral presentations went well.",
    "Good luck with your revision!",
)
"""Late in a term."""
EARLY_ASIDES = (
    "[Welcome to everybody|A welcome to all] who joined us late.",
    "The reading list is [online|on the page].",
    "Please put your name on the list [for the presentations|of speakers|for the talks].",
    "The guest lecture will be recorded.",
    "[If you have questions|With any questions], please [write to|turn to|ask] [me|the assistant].",
    "Student cards [can be collected|are ready|can be picked up] at the [desk|office].",
    "The slides of the first [week|lecture|class] are [online|on the course page].",
    "There is [still room|still a place] in the reading group.",
    "Mock papers of other years are [online|in the library].",
    "[I wish you|Have] a good start!",
)
SITTINGS = (
    "mock exam", "trial exam", "make-up midterm exam", "diagnostic test", "revision test",
    "practice test", "progress test", "second midterm exam", "trial test", "class test",
)  # fmt: skip
"""What is written in courses besides finals, and before them."""
ANSWERS = (
    "Thank you, I have made a note of it.",
    "Thanks for letting me know.",
    "Understood, thank you.",
    "Thank you. I shall come back to you if anything is unclear.",
    "Thanks, that helps.",
    "Got it, many thanks.",
    "Thank you for the quick message.",
    "All right, thanks. I have told the others in my group.",
    "Thank you, that is good to know.",
    "Thanks! I will keep it in mind.",
)
"""What a student answers to any notice."""
WELCOMES = (
    "You are welcome.",
    "Not at all.",
    "Good. Write again if anything is unclear.",
    "Glad to hear it.",
    "No trouble at all.",
    "Fine, then we are all set.",
    "You are welcome. See you in class.",
    "Good, thank you for the quick answer.",
    "Any time.",
    "Very well. Have a good week.",
)
"""What is answered to that."""
MARKS = ("homework average", "quiz average", "presentation average", "attendance average", "essay average")
"""What is not the coursework average."""
TITLES = (
    "Notices for [this|the coming] week",
    "{title}: news",
    "{title}: a few [things|notices]",
    "Please read",
    "A few things about {title}",
    "News from the course",
    "{code}: [update|notices]",
    "To all in {title}",
    "From my desk",
    "[Odds and ends|This and that]",
    "{title}, [this week|what is next]",
    "[Reminders|Remarks], {title}",
    "{code}, [in brief|briefly]",
    "[Some|A few] lines on {title}",
    "What is [new|next] in {title}",
    "{title}: [please read|for your information]",
)
PLAIN_TITLES = (
    "Hello", "News", "This week", "Some news", "A few things", "Before I forget", "Odds and ends",
    "What is [new|going on]", "From [here|us]", "A [short|quick] note", "[Bits and pieces|Small things]",
)  # fmt: skip
"""What has nothing to do with a course."""
EXAM_TITLES = (
    "{sitting}",
    "Our {sitting}",
    "{title}: {sitting}",
    "{sitting} in {title}",
    "Your {sitting} in {title}",
    "{sitting}, [in brief|news]",
    "{sitting}: arrangements",
    "About the {sitting}",
)
