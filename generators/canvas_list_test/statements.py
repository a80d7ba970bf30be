"""Wording of instructors on works: a dozen ways for each statement; ``[this|that]`` is a choice."""

from __future__ import annotations

DEADLINE = (
    "the deadline of {work} is now {when}",
    "{work} is now due on {when}",
    "you have until {when} for {work}",
    "I have set the deadline of {work} to {when}; never mind what Canvas shows",
    "please [complete|finish] {work} by {when}, which is the new deadline",
    "{work} may come in until {when}",
    "I [expect|want] {work} by {when} now",
    "for {work} I have moved the date to {when}",
    "{when} is the new deadline of {work}",
    "in the lecture we agreed on {when} for {work}",
    "the date of {work} has changed to {when}",
    "whatever Canvas says, {work} is to be done by {when}",
)
WITHDRAWN = (
    "the deadline that I announced for {work} does not hold after all, since Canvas is right",
    "please forget what I wrote about the deadline of {work}, because it is due when Canvas says",
    "I take back the change of the deadline of {work}, as the date on Canvas was right",
    "the date on Canvas is right for {work}, and not the one that I gave",
    "my new deadline for {work} is void, so go by Canvas",
    "for {work}, Canvas has the right deadline, whatever I announced",
    "there is no new deadline for {work} after all: see Canvas",
    "ignore the other date for {work}, for the one on Canvas stands",
    "{work} is due when Canvas says, as it was at first",
    "I should not have touched the deadline of {work}: the one on Canvas holds",
    "we are back to the deadline on Canvas for {work}",
    "the new date for {work} was a mistake of mine, so go by the one on Canvas",
)
OPTIONAL = (
    "{work} is optional: whoever wants the practice may do it, nobody has to",
    "I have decided to make {work} voluntary",
    "doing {work} is voluntary, and it will not count for or against anybody",
    "please treat {work} as an optional extra",
    "nobody has to do {work} any more, though you may",
    "{work} is up to you",
    "you may skip {work} if you like",
    "{work} is there for those who want to practise, and for nobody else",
    "whether you do {work} is your own choice",
    "I leave {work} to your own choice",
    "{work} no longer counts, so do it only if it helps you",
    "there is no duty to do {work}",
)
CANCELLED = (
    "{work} is cancelled",
    "we drop {work} from the programme, and nobody needs to do anything for it",
    "there will be no {work}: it is cancelled without replacement",
    "I have cancelled {work}, although Canvas still shows it",
    "{work} will not take place",
    "we do without {work} [this term|altogether]",
    "{work} is off",
    "I have given up the plan of {work}",
    "you can cross out {work}",
    "{work} falls away because of the excursion",
    "we have no time for {work}, so it is struck",
    "strike {work} from your lists",
)
COMPULSORY = (
    "contrary to what I wrote earlier, {work} is compulsory for everybody",
    "{work} counts after all, so everybody has to do it",
    "the department insists that {work} is compulsory and not voluntary, as I had said",
    "I was wrong to leave {work} to you: everybody has to do it",
    "{work} is required again",
    "nobody may skip {work}, whatever I said",
    "I take back that {work} is voluntary",
    "{work} has to be done by all of you after all",
    "please do {work}, all of you: the choice that I gave you is gone",
    "there is no choice about {work} any more",
    "{work} is part of the mark again, and so for everybody",
    "on second thoughts, everybody does {work}",
)
REVIVED = (
    "{work} takes place after all",
    "good news or bad: {work} is back on the programme, and everybody has to do it",
    "I was too quick to cancel {work}, for it goes ahead as planned and is compulsory",
    "{work} is on again",
    "we do have {work}, contrary to my last words on it",
    "I have found time for {work}, so it is back",
    "put {work} on your lists again",
    "{work} was cancelled too early: it takes place",
    "forget that {work} was cancelled",
    "do not cross out {work}, since it happens",
    "the excursion is moved, so {work} goes ahead",
    "we keep {work} in spite of what I announced",
)
EXCUSED = (
    "{names} {are} excused from {work}",
    "because of the excursion, {names} {are} excused from {work}",
    "I have excused {names} from {work}",
    "{names} need not do {work}",
    "I let {names} off {work}",
    "from {work} I have excused {names}",
    "{names} helped with the open day, and {are} excused from {work} for that",
    "{names} can leave out {work}",
    "as agreed, {work} is not for {names}",
    "{names} may miss {work} with my consent",
    "the dean excuses {names} from {work}",
    "{work} is waived for {names}",
)
AT_LEAST = (
    "with at least {points} points in the midterm",
    "who reached {points} points or more in the midterm",
    "with a midterm result of {points} or higher",
    "whose midterm has {points} points or more",
    "who did not fall below {points} points in the midterm",
    "with no fewer than {points} points in the midterm",
)
MORE_THAN = (
    "with more than {points} points in the midterm",
    "whose midterm result is above {points}",
    "who scored higher than {points} in the midterm",
    "whose midterm went better than {points} points",
    "with a midterm result over {points}",
    "who beat {points} points in the midterm",
)
REPEATERS = (
    "who repeat the course",
    "who are taking this course for the second time",
    "who have taken this course before",
    "for whom this is the second attempt at the course",
    "who are in this course again",
    "who sat in this course in an earlier term",
)
EXEMPT = (
    "students {who} are exempt from {work}",
    "{work} is waived for students {who}",
    "students {who} need not do {work}",
    "I do not ask for {work} from students {who}",
    "students {who} can leave out {work}",
    "students {who} are spared {work}",
    "for students {who}, {work} falls away",
    "students {who} may leave {work} to the others",
)
NO_EXTENSION = (
    "some of you asked for another deadline for {work}, which I cannot grant: nothing changes",
    "no, {work} will not be put off, although the other group asked for it as well",
    "to all who asked whether {work} could be handed in later: it cannot",
    "nothing changes about {work}, in spite of the rumours",
    "a later date for {work} was discussed and nothing changes",
    "my answer about more time for {work} is no, so nothing changes",
    "two of you wrote to me about a later date for {work}; I have to say no, and nothing changes",
    "I have been asked for more time for {work}, but the marks are due, so nothing changes",
    "you may have heard that {work} gets another week: it does not, and nothing changes",
    "the department does not allow me to move {work}, so nothing changes",
    "as for {work}, I thought about your request for a later date, and nothing changes",
    "a shorter way with {work} would not be fair to those who have begun, so nothing changes",
)
LAST_YEAR = (
    "older students may tell you that {work} was optional: that was last year, and this year it is not",
    "last year {work} was cancelled because of the storm, while this year all goes as planned",
    "last year 80 points in the midterm exempted you from {work}, and there is no such rule this year",
    "that {work} is voluntary was last year; this year all goes as planned",
    "who repeated the course was exempt from {work} last year, but there is no such rule this year",
    "last year nobody had to do {work}, and this year all goes as planned",
    "the old course page cancels {work}; it is of last year, and this year all goes as planned",
    "last year I excused the whole class from {work}; there is no such rule this year",
    "do not go by the notes of older students, who had no {work}: that was last year",
    "last year the deadline of {work} was moved twice, while this year all goes as planned",
    "in last year's announcements you read that {work} is a free choice, but this year all goes as planned",
    "a good midterm spared students {work} last year; there is no such rule this year",
)
SISTER_COURSE = (
    "for those who also take {other}: {work} is cancelled over there, and nothing changes here",
    "in {other}, the sister course, {work} is voluntary, but with us nothing changes",
    "whoever attends {other} too should know that its {work} has a new deadline, and ours stays",
    "{other} has dropped {work}, while here nothing changes",
    "students of {other} are exempt from {work} there, and nothing changes for you",
    "{work} is off in {other}, and here nothing changes",
    "{other} moved its {work} to another day, as some of you know, and nothing changes here",
    "a notice says that {work} is waived: it is one of {other}, and nothing changes for us",
    "if you hear that {work} is not required, that is in {other} alone, and nothing changes here",
    "colleagues in {other} have excused their students from {work}, but here nothing changes",
    "my colleague makes {work} a free choice in {other}; I do not, so nothing changes",
    "do not mix us up with {other}, where {work} was put off: nothing changes here",
)
LECTURE = (
    "the lecture on Thursday is cancelled, which does not affect {work}",
    "my office hour is cancelled this week, so send questions about {work} by mail instead",
    "the tutorial is optional this week, since some of you are busy with {work}",
    "the excursion is voluntary and does not affect {work}",
    "the seminar on Friday is off, which does not affect {work}",
    "two lectures change places, which does not affect {work}",
    "the help desk is closed on Friday, which does not affect {work}",
    "we meet in another room next time, which does not affect {work}",
    "the guest lecture is cancelled, as our guest is ill, which does not affect {work}",
    "the reading group is voluntary and does not affect {work}",
    "the film evening is off, which does not affect {work}",
    "the library closes early this week, which does not affect {work}",
)
NO_FINAL = (
    "there will be no final exam in this course",
    "this course ends without a final exam",
    "we do not sit a final exam this term",
    "you will be marked without a final exam",
)
FINAL = (
    "whoever had at least {points} points in the midterm is exempt from the final exam",
    "the final exam is open-book, and repeaters are exempt from it",
    "students with more than {points} points in the midterm need not sit the final exam",
    "the final exam is voluntary for repeaters",
)
SUBJECTS = (
    "News", "Please read", "A note", "For this week", "Update", "Announcement", "Some information",
    "To everybody", "Organisation", "About the course", "What comes next", "In short",
)  # fmt: skip
ABOUT = ("About {what}", "{what}", "{what}: please read", "News on {what}")
