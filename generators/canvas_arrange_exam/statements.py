"""What notices say, a dozen ways each: the same words serve what matters and what does not.

``{exam}`` is a sitting with its course and sections ("the final exam in Optics (Section 3)"), ``{final}`` the
same once it is known which, ``{group}`` the sections. ``[a|b]`` is one of both.
"""

OPENINGS = (
    "this is about {exam}.",
    "a note on {exam}.",
    "[some|several] of you asked about {exam}.",
    "[here|below] is what [has been settled|we know by now] about {exam}.",
    "{exam} is coming up.",
    "the planners [have sent|sent me] their word on {exam}.",
    "please [note|write down] the following on {exam}.",
    "I can [now say|say a little] more about {exam}.",
    "[details|particulars] of {exam} follow.",
    "you have been waiting for news of {exam}.",
    "one more thing, and that is {exam}.",
    "on to {exam}.",
    "let me turn to {exam}.",
    "I have been asked to pass on what is arranged for {exam}.",
)
COMPARISONS = (
    "[for comparison|to give you an idea], what we told those before you:",
    "[some asked|I was asked] how it went before; we wrote then:",
    "from the archive:",
    "those who came before you were told the following.",
    "as an example of how such things are arranged:",
    "I found what I wrote half a year ago:",
)
CHANGES = (
    "there is a change to {exam}.",
    "a correction for {exam}.",
    "please note new arrangements for {exam}.",
    "an update on {exam}.",
    "we had to [alter|rearrange] something about {exam}.",
    "what you were told about {exam} is no longer right in one point.",
    "plans for {exam} have [moved|shifted] a little.",
    "I have to take back one thing about {exam}.",
    "{exam} is not quite as it was announced.",
    "something [else|new] has come up about {exam}.",
    "the planners have [looked again at|revised] {exam}.",
    "cross out one point of what you noted on {exam}.",
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
    "there will be one, but date, time, duration and room are not fixed yet.",
    "it is certain to happen; its date, time, duration and room will be announced later.",
    "date, time, duration and room are still open.",
    "it will come, though its date, time, duration and room have not been fixed.",
    "nobody can tell you date, time, duration or room yet.",
    "we still wait for its date, time, duration and room.",
)
CREDITS = (
    "in {group} the course [is worth|carries|counts for] {credits} credits.",
    "{credits} credits are [earned|awarded] in {group}.",
    "course credit ({group}): {credits}.",
    "whoever passes in {group} [earns|gets|receives] {credits} credits.",
    "for {group} the registrar has it down with {credits} credits.",
    "you [collect|take home] {credits} credits in {group}.",
    "{group}: {credits} credits.",
    "those in {group} do the work of {credits} credits.",
)
OPEN_BOOK = (
    "{final} is open-book.",
    "books and notes may be used in {final}.",
    "your books and notes are welcome in {final}.",
    "you may bring books and notes to {final}.",
    "we have made {final} open-book.",
    "{final} is an open-book one.",
    "books and notes are allowed in {final}.",
    "in {final}, open-book rules apply.",
)
CLOSED_BOOK = (
    "{final} is closed-book.",
    "no books or notes may be used in {final}.",
    "your books and notes are not welcome in {final}.",
    "you may not bring books and notes to {final}.",
    "we have made {final} closed-book.",
    "{final} is a closed-book one.",
    "books and notes are not allowed in {final}.",
    "in {final}, closed-book rules apply.",
)
BOOK_PENDING = (
    "whether {final} is open-book or closed-book will be decided later.",
    "it is not settled yet if {final} will be open-book or closed-book.",
    "open-book or closed-book: for {final} that is still open.",
    "I cannot say yet whether {final} will be open-book or closed-book.",
)
ELSEWHERE = (
    "What holds elsewhere is announced [in class|on the course page].",
    "Those who are not [named|spoken of] here find their terms among the announcements.",
    "All other terms come by announcement.",
    "Whoever is not meant above gets the terms by announcement.",
)
"""At the end of a syllabus."""
RULE_INCLUSIVE = (
    "with a coursework average of {limit} or higher you are exempt from {final}.",
    "whoever has a coursework average of at least {limit} is exempt from {final}.",
    "a coursework average of {limit} or more [frees you from|lets you skip] {final}.",
    "{final} is not for those whose coursework average is {limit} or higher.",
    "from a coursework average of {limit} upwards, {limit} included, nobody has to sit {final}.",
    "nobody with a coursework average of at least {limit} has to sit {final}.",
)
RULE_EXCLUSIVE = (
    "with a coursework average above {limit} (not just {limit}) you are exempt from {final}.",
    "whoever has a coursework average of more than {limit} is exempt from {final}.",
    "a coursework average above {limit} [frees you from|lets you skip] {final}; {limit} itself does not.",
    "{final} is not for those whose coursework average is more than {limit}.",
    "nobody with a coursework average above {limit} has to sit {final}.",
    "only from {limit} upwards, {limit} not included, does a coursework average [free you from|let you skip] "
    "{final}.",
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
    "I shall be travelling, so the proctor of {exam} is {who_plain}.",
    "{exam} will be proctored by {who_plain}, not by me.",
    "{who_plain} proctors {exam}.",
    "you will meet {who_plain} instead of me as proctor of {exam}.",
    "the proctor for {exam} will be {who_plain}.",
    "I have asked {who_plain} to proctor {exam}.",
    "as proctor of {exam}, {who_plain} takes my place.",
)
PROCTOR_PENDING = (
    "I cannot proctor {exam} myself; who will is still to be announced.",
    "somebody else will proctor {exam}; the name will be announced.",
    "the proctor of {exam} will be somebody else, whose name is to be announced.",
    "another proctor for {exam} is being looked for, to be announced soon.",
)
CANCELLED = (
    "{exam} is cancelled; the [term paper|project|portfolio] takes its place.",
    "there will be no sitting of {exam} after all; the [project|portfolio] counts instead.",
    "{exam} has been called off, and [the term paper|your project] decides.",
    "we have dropped {exam}; [coursework|the portfolio] alone counts.",
    "{exam} will not take place; [the essays|the reports] make up the grade.",
    "do not prepare for {exam}, which has been called off.",
)
NEVER = (
    "there is no such thing as {exam}; your grade rests on the [portfolio|project].",
    "{exam} does not exist: the essays make up the whole grade.",
    "several of you asked about {exam}: there is none, only the [project|portfolio].",
    "nobody will sit {exam}, since there is none this term.",
    "you ask about {exam}. There is none; the reports are graded instead.",
    "{exam} is something that we do without; coursework alone counts.",
)
EXEMPT = (
    "because of your [prize-winning project|tutoring work] you are exempt from {exam}.",
    "you need not sit {exam}: your [tutoring work|internship] exempts you from it.",
    "your request was granted: you are exempt from {exam}.",
    "the committee has excused you from {exam}.",
    "as agreed, {exam} is not for you: you are exempt.",
    "you are free of {exam}, thanks to your [internship|year abroad].",
)
OPTIONAL = (
    "{exam} is optional: it can only improve your grade.",
    "nobody has to sit {exam}; it is optional and for extra credit.",
    "{exam} is voluntary, and whoever stays away loses nothing.",
    "it is up to you whether you sit {exam}.",
    "whether you come to {exam} is your own choice; it can only help.",
    "you may skip {exam} without any loss, for it is voluntary.",
)
AUDITOR = (
    "you are registered as an auditor of {title}. Auditors do not sit {exam}.",
    "you are an auditor in {title}, and {exam} is not compulsory for auditors.",
    "our records have you as an auditor of {title}; {exam} is only for the others.",
    "as an auditor of {title} you are not among those who have to sit {exam}.",
)
ASIDES = (
    "The midterm papers can be [collected|picked up] [at my office|from the secretary].",
    "The mock papers of other years are on the course page.",
    "Thanks to everybody who came to the review session.",
    "The guest lecture was recorded.",
    "For make-up work, please write to [me|the assistant].",
    "The practice tests have been graded.",
    "Please bring your student card wherever papers are handed out.",
    "The posters stay up until the end of the month.",
    "The oral presentations went well.",
    "Good luck with your revision!",
)
"""Late in a term."""
EARLY_ASIDES = (
    "Welcome to everybody who joined us late.",
    "The reading list is on the course page.",
    "Please put your name on the list for the presentations.",
    "The guest lecture will be recorded.",
    "For questions, please write to [me|the assistant].",
    "Student cards can be [collected|picked up] from the secretary.",
    "The slides of the first week are on the course page.",
    "There is still room in the reading group.",
    "The mock papers of other years are on the course page.",
    "[I wish you|Have] a good start!",
)
SITTINGS = (
    "mock exam", "trial exam", "make-up midterm exam", "review session", "oral presentation",
    "practice test", "guest lecture", "poster session", "project presentation", "lab test",
)  # fmt: skip
"""What courses hold besides finals, and before them."""
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
"""What is answered to any notice."""
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
