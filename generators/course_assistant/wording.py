"""How a course's mails say what they say: a dozen ways for every statement, the same for every course."""

from __future__ import annotations

OTHER_WORK = (
    ("essay", "essays"), ("lab report", "lab reports"), ("term paper", "term papers"),
    ("field report", "field reports"), ("reading journal", "reading journals"), ("poster", "posters"),
    ("exercise sheet", "exercise sheets"), ("take-home quiz", "take-home quizzes"),
)  # fmt: skip
"""What students hand in besides: one, and several."""
WORK = ("presentation", "presentations")

DEADLINE = (
    "the {title} {works} are due by {when}",
    "{works} in {title} have to be with [you|us] by {when}",
    "the last moment for the {works} in {title} is {when}",
    "please collect the {works} of {title} until {when}",
    "for {title}, {works} are [accepted|taken] until {when}",
    "students of {title} have until {when} for their {works}",
    "{when} is when the {works} of {title} are due",
    "all {works} of {title} should be in by {when}",
    "I [told|announced to] the class of {title} that {works} must come by {when}",
    "in {title} we wait for {works} until {when}",
    "the deadline of the {works} in {title} is {when}",
    "whoever takes {title} has to mail the {works} by {when}",
)
MOVED = (
    "the lab was [closed|shut] for [two|three] days, so",
    "the building had no [power|heating] [on Monday|for a day|last week], and now",
    "[half|most] of the class was [away|out] on a [field trip|visit|trip], so",
    "after a vote in class,",
    "since the library was shut,",
    "because of the [storm|flood|strike],",
    "the [faculty board|dean|board] has asked for more time:",
    "to give everybody a fair chance,",
)
"""Reasons for another deadline; what it is follows."""
EXTENSION = (
    "{who} [was ill|had an accident|is at a tournament] and may hand in the {work} until {when}",
    "for {who}, the deadline of the {work} is {when}",
    "I have given {who} until {when} for the {work}",
    "the {work} of {who} is in time until {when}",
    "please accept the {work} of {who} until {when}",
    "{who} gets more time for the {work}, namely until {when}",
    "{who} has a doctor's note; the {work} may come as late as {when}",
    "because of a family matter, {when} applies to the {work} of {who}",
    "there is an extension for {who}, whose {work} is due by {when}",
    "let {who} have until {when} with the {work}",
    "{who} asked for more time, and {when} is fine with me for the {work}",
    "the dean's office [wants us to wait|asks us to wait|waits] for the {work} of {who} until {when}",
)
EXCUSE = (
    "{who} is excused from the {work}",
    "{who} need not hand in a {work}",
    "there will be no {work} from {who}, which is agreed with me",
    "I have let {who} off the {work}",
    "do not wait for a {work} from {who}, who is excused",
    "{who} does not [have to|need to] hand in a {work}",
    "please count {who} as excused from the {work}",
    "the {work} is waived for {who}",
    "no {work} is needed from {who}",
    "{who} did the {work} in [another|an earlier] term and is [excused now|excused]",
    "we do without the {work} of {who}",
    "{who} has my permission to skip the {work}",
)
NOT_EXCUSED = (
    "I have to correct myself: {who} is not excused from the {work}",
    "{who} has to hand in the {work} after all",
    "what I said about {who} was a mistake, and the {work} is required like everybody's",
    "the excuse of {who} does not stand, so we [need|expect|want] the {work}",
    "I take back the excuse [that I gave|I gave|of] {who}: the {work} is due as for [all others|the others]",
    "{who} cannot be let off the {work} after all",
    "contrary to what I wrote, we do expect the {work} of {who}",
    "please treat {who} like everybody else [again as to|as to|with regard to] the {work}",
    "the {work} of {who} is needed after all",
    "I was wrong about {who}, whose {work} is required",
    "the waiver for {who} no longer holds, and the {work} is due",
    "{who} is not let off the {work} any more",
)
DROPPED = (
    "{who} has dropped {title}",
    "{who} has left {title}",
    "the registrar took {who} off the list of {title}",
    "{who} is no longer in {title}",
    "{who} withdrew from {title}",
    "please strike {who} from the roster of {title}",
    "{who} left {title} [last week|on Friday|on Tuesday], and [is not coming|will not come] back",
    "{who} is not a student of {title} any longer, as the [registrar|office] [tells me|says|writes]",
    "{title} has lost {who}, who changed to another course",
    "{title} goes on without {who}, who has dropped it",
    "{who} gave up {title} [this week|on Monday]",
    "{who} is out of {title} as of today",
)
BACK = (
    "{who} is back in {title}[, whatever the roster says|]",
    "{who} has registered again for {title}",
    "the roster is wrong about {who}, who never left {title}",
    "{who} has returned to {title}",
    "please put {who} back on the roster of {title}",
    "{who} is enrolled in {title} after all",
    "{who} takes part in {title} again",
    "the registrar has reinstated {who} in {title}",
    "{who} only seemed to have dropped {title} and is still with us",
    "contrary to the roster, {who} is in {title}",
    "we have {who} back in {title}",
    "{who} changed plans and stays in {title}",
)

BRIEF = (
    "{code}", "{title}", "A note on {title}", "{code}: one thing", "Briefly, {code}", "{title}, in short",
    "For {code}",
)  # fmt: skip
"""Subjects of mails that say one thing only."""
HANDED_IN = (
    "[here are|these are] my slides[ on {topic}|, on {topic}|]",
    "[you will find|please find] my presentation[ on {topic}|, which is on {topic},|] attached",
    "[please find|you will find|I am sending|I enclose] the slides [for my|of the|for the] talk[ on "
    "{topic}|] [with this mail|in the attachment|as a file]",
    "attached is what I [am going to|will|want to] [present|show|say][ on {topic}| about {topic}|]",
    "I [am handing|would like to hand|hereby hand] in my presentation[ on {topic}|] [with this mail|as a file"
    "|attached]",
    "[the|my] slides[ on {topic}|] are [in|all in] the [file|attachment] [that comes with|sent with|of] this "
    "[mail|note]",
    "this is my presentation[ on {topic}|][, as you asked|, as agreed|]",
    "my talk[ on {topic}|] is [finished|ready|done], [and its|so the|its] slides [are attached|come with "
    "this|are here]",
    "[enclosed|in the attachment] [are|you will find] [my slides|the slides of my "
    "presentation][ on {topic}|]",
    "[this mail|this message] comes with the slides of my [presentation|talk][ on {topic}| about {topic}|]",
    "[here is|here comes] [my presentation|what I am going to present][ on {topic}|][, in one file|]",
    "with this [mail|message] I [hand in|send you|submit] [the slides|all the slides] of my "
    "[presentation|talk][ on {topic}|]",
    "I [have put|put|managed to get] [everything|it all|{topic}] on [nine|ten|eleven|twelve|fourteen] "
    "slides, [which are attached|see the file|all attached]",
    "the attached file [is|contains] my presentation[ on {topic}|]",
    "[as announced|as promised|as agreed], the slides [of my|for the|of the] talk[ on {topic}|] [come with "
    "this mail|are attached|follow here]",
)
"""Said by those who attached a file, and by those who forgot to."""
ONCE_MORE = (
    "I corrected [two|three|some] [typing errors|numbers|names], so here are the slides [once more|again]",
    "[one|a] chart was [upside down|missing], [and this is|so here is] the presentation with [a better "
    "one|a right one]",
    "the [third|fourth|last] slide was [missing|blank], so I [am sending|send] [all of "
    "them|everything|the whole set] again",
    "please [take|use] these slides [instead of|and not] my first ones",
    "the [fonts|colours] looked [odd|wrong], so I [am sending|send] the presentation [a second time|again]",
    "[there was|I found] [a mistake|an error] on the [second|third|last] slide, so [please take this "
    "version|here is a better version] of my presentation",
    "the [first|earlier] file would not open [for me|here], so the presentation comes [once more|again]",
    "here is [the|my] presentation again, with [the|all] sources [that I forgot|this time]",
)
ATTACHED_NOW = (
    "sorry, I forgot the file: [my|the] slides are attached [now|this time]",
    "my [last|first] mail came without the slides, [which I attach now|so here they are]",
    "this time the presentation [really is|is really] attached",
    "I forgot to attach [my|the] presentation, [which comes with this mail|and here it is]",
    "the slides were not [in|with] my [last|first] mail; [here they are|now they are]",
    "there was no file [with|in] my [last|first] mail, so [here are the slides|I send the slides now]",
    "as you [may|will] have noticed, my slides were missing; [this mail has them|they are attached now]",
    "please excuse the mail without [a file|slides]: [my|the] presentation [is attached|comes] with this one",
)
"""Said with the file by those who forgot it at first."""
TAKEN_BACK = (
    "I take back the slides [that I|I] sent: [the|my] [results|numbers] [in them are wrong|were wrong]",
    "please delete the presentation [I sent you|that I sent|you have from me], which I [withdraw|hereby "
    "withdraw]",
    "my presentation should not be counted, so [please|kindly] [ignore|delete|leave out] the file",
    "the slides I [mailed|sent] [were|are] [somebody else's|my neighbour's], [please|so please] throw them "
    "away",
    "do not [use|count|show] the presentation [that I|I] handed in; it is withdrawn",
    "I [would like|want|have] to withdraw the presentation [that I|I] [handed in|sent]",
    "please disregard my slides, since [I am not happy with them|my partner objects to them]",
    "consider my presentation [as not|not] handed in",
    "the slides I [sent|mailed] are not what I [want to|can] be judged by, [and I|so I] take them back",
    "forget the slides you [got|have] from me, please: [they were|it was] [a|an early] draft",
    "I pull my presentation, as my [data|results|figures] [turned out to be|are] [invalid|wrong]",
    "my slides [of the other day|of this week|I sent] are void, please [count|treat] them as never sent",
)
NOT_TO_PRESENT = (
    "I am excused from the presentation, [as|since] I [am on|travel with] the [rowing|chess|debating] team "
    "[this term|this week]",
    "I [do not have|have not got] to present [this time|this week]; I told the [secretary|office] so",
    "[you need not|do not] wait for a presentation from me, [since|as] I [gave|held] one [last year|before]",
    "as a repeater I [take it|assume|think] that the presentation is waived [for me|this time]",
    "my [tutor|adviser] [thinks|says] that I need not present, [so|and] I will not",
    "I have dropped the course, or will [do so|do it] [tomorrow|this week], so there [will be|is] no talk "
    "[from me|of mine]",
    "please count me as excused: I have [a job interview|an exam elsewhere|to see a doctor]",
    "the instructor [surely|of course] excuses me from the presentation, as my [arm|leg|wrist] is "
    "[broken|in plaster]",
    "I skip the presentation, which I [believe|hear|think] is [voluntary|not required]",
    "there [will be|are] no slides from me, [since|as] I already have [enough|all the] points",
    "I [understood|heard] that auditors [like me|such as I] do not present",
    "I agreed with my [group|partners] that the [others|two others] [present|speak] for me",
)
QUESTION = (
    "how [long|detailed] may the talk be, and [is there|do we have] a [projector|screen|clock]",
    "does the presentation [have|need] to be in English",
    "[may|can] I use my [own laptop|tablet|notes] [for|during] the presentation",
    "who [decides on|makes|knows] the order of [the presentations|our presentations]",
    "is it [a problem|all right|bad] if the presentation [has|takes] more than [twelve|fifteen|twenty] "
    "slides",
    "could you [tell me|say] whether the slides are [shown|sent] to [everybody|the class]",
    "do we need [handouts|a script|an abstract] for the presentation [as well|too]",
    "[may|can] two [people|of us] give one presentation together",
)
OTHER_HANDED_IN = (
    "my {work} is attached",
    "you will find my {work} with this mail",
    "here is my {work}[, which took longer than I thought|]",
    "I am handing in the {work} with this",
    "the attached file is my {work}",
    "this is the {work} that was due this week",
    "please find the {work} in the [file|attachment] [that comes|sent] with this [mail|message]",
    "as announced, I am sending you my {work}",
)
HEARSAY = (
    "I hear that {said}",
    "people say that {said}",
    "is it true that {said}?",
    "somebody told me that {said}",
    "in the canteen they say that {said}",
    "I was told that {said}",
    "it seems that {said}",
    "my neighbour thinks that {said}",
)
"""Repeated by somebody who does not decide it."""

SUBJECTS = (
    "presentation-{number}-{name}",
    "Presentation {number} {name}",
    "Slides: presentation of {name}, {number}",
    "My presentation ({number})",
    "{number} presentation",
    "Presentation of {name} ({number})",
    "{name}, {number}: presentation",
    "Handing in: presentation {number}",
    "{number} - slides of my presentation",
    "Presentation, {name}, ID {number}",
    "My slides for the presentation, {number}",
    "ID {number}: my presentation",
)
"""Of presentations, with or without a file, and of what is said about them."""
OTHER_SUBJECTS = (
    "{Work} {number}",
    "My {work} ({number})",
    "{Work} - {number}",
    "{number}: {work}",
    "{Work} of {name}, {number}",
    "Handing in: {work}, {number}",
)
