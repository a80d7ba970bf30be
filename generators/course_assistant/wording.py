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
    "the lab was closed for two days, so",
    "the building had no power [on Monday|for a day], and now",
    "half of the class was on a field trip, which is why",
    "after a vote in class,",
    "since the library was shut,",
    "because of the [storm|flood|strike],",
    "the faculty board has asked for more time:",
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
    "the dean's office wants us to wait for the {work} of {who} until {when}",
)
EXCUSE = (
    "{who} is excused from the {work}",
    "{who} need not hand in a {work}",
    "there will be no {work} from {who}, which is agreed with me",
    "I have let {who} off the {work}",
    "do not wait for a {work} from {who}, who is excused",
    "{who} does not have to hand in a {work}",
    "please count {who} as excused from the {work}",
    "the {work} is waived for {who}",
    "no {work} is needed from {who}",
    "{who} did the {work} in another term and is excused now",
    "we do without the {work} of {who}",
    "{who} has my permission to skip the {work}",
)
NOT_EXCUSED = (
    "I have to correct myself: {who} is not excused from the {work}",
    "{who} has to hand in the {work} after all",
    "what I said about {who} was a mistake, and the {work} is required like everybody's",
    "the excuse of {who} does not stand, so we need the {work}",
    "I take back the excuse that I gave {who}: the {work} is due as for all others",
    "{who} cannot be let off the {work} after all",
    "contrary to what I wrote, we do expect the {work} of {who}",
    "please treat {who} like everybody else again as to the {work}",
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
    "{who} left {title} [last week|on Friday], and is not coming back",
    "{who} is not a student of {title} any longer, as the registrar tells me",
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
    "here are my slides",
    "you find my presentation attached",
    "please find the slides for my talk with this mail",
    "attached is what I am going to [present|show]",
    "I am handing in my presentation with this",
    "the slides are in the file that comes with this mail",
    "this is my presentation[, as you asked|]",
    "my talk is finished, and its slides are attached",
    "with this mail I hand in the slides of my presentation",
    "I have put everything on [nine|ten|twelve|fourteen] slides, which you find attached",
    "the attached file is my presentation",
    "as announced, the slides of my talk come with this mail",
)
"""Said by those who attached a file, and by those who forgot to."""
ONCE_MORE = (
    "I corrected two typing errors, so here are the slides once more",
    "one chart was upside down, and this is the presentation with a better one",
    "the [third|fourth|last] slide was missing, so I send all of them again",
    "please take these slides instead of my first ones",
    "the fonts looked odd, so I am sending the presentation a second time",
    "here is the presentation again, with the sources that I forgot",
)
TAKEN_BACK = (
    "I take back the slides that I sent: the results in them are wrong",
    "please delete the presentation I sent you, which I withdraw",
    "my presentation should not be counted, so please ignore the file",
    "the slides I mailed were somebody else's, please throw them away",
    "do not use the presentation that I handed in; it is withdrawn",
    "I would like to withdraw the presentation that I handed in",
    "please disregard my slides, since [I am not happy with them|my partner objects to them]",
    "consider my presentation as not handed in",
    "the slides I sent are not what I want to be judged by, and I take them back",
    "forget the slides you got from me, please: they were a draft",
    "I pull my presentation, as my data turned out to be invalid",
    "my slides of the other day are void, please count them as never sent",
)
NOT_TO_PRESENT = (
    "I am excused from the presentation, as I am on the [rowing|chess|debating] team this term",
    "I do not have to present this time; I told the secretary so",
    "you need not wait for a presentation from me, since I gave one last year",
    "as a repeater I take it that the presentation is waived for me",
    "my tutor thinks that I need not present, so I will not",
    "I have dropped the course, or will do so [tomorrow|this week], so there will be no talk from me",
    "please count me as excused: I have a job interview",
    "the instructor surely excuses me from the presentation, as my arm is broken",
    "I skip the presentation, which I believe is voluntary",
    "there will be no slides from me, since I already have enough points",
    "I understood that auditors like me do not present",
    "I agreed with my group that the others present for me",
)
QUESTION = (
    "how long may the talk be, and is there a projector",
    "does the presentation have to be in English",
    "may I use my own laptop for the presentation",
    "who decides on the order of the presentations",
    "is it a problem if the presentation has more than [twelve|fifteen|twenty] slides",
    "could you tell me whether the slides are shown to everybody",
    "do we need handouts for the presentation as well",
    "may two people give one presentation together",
)
OTHER_HANDED_IN = (
    "my {work} is attached",
    "you find my {work} with this mail",
    "here is my {work}[, which took longer than I thought|]",
    "I am handing in the {work} with this",
    "the attached file is my {work}",
    "this is the {work} that was due this week",
    "please find the {work} in the file that comes with this mail",
    "as announced, I send you my {work}",
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
