"""How professors say what they say: a dozen ways for every statement, whether it still counts or not."""

from __future__ import annotations

DOCUMENTS = {
    "cv": ("your CV", "your curriculum vitae", "an up-to-date CV", "the CV as it is now"),
    "statement": ("your statement of purpose", "the statement of purpose", "a statement of purpose"),
    "english": ("[your|the|an] English test certificate",),
    "proposal": ("your complete research proposal", "all pages of your research proposal"),
    "proposal_summary": (
        "only the first page of your research proposal",
        "the first page (no more) of your research proposal",
    ),
    "bachelor": ("your Bachelor's transcript", "the transcript of your Bachelor's degree"),
    "master": ("your Master's transcript", "the transcript of your Master's degree"),
    "first_letter": ("the letter of your first referee", "the first referee's letter"),
    "second_letter": ("the letter of your second referee", "the second referee's letter"),
    "awards_oldest_first": (
        "all [the |]award certificates (oldest first)", "[your|the] award certificates, oldest first",
    ),
    "awards_newest_first": (
        "all [the |]award certificates (newest first)", "[your|the] award certificates, newest first",
    ),
}  # fmt: skip
OFFER = (
    "your profile fits our [project|work|group] well",
    "I could offer you a [PhD|doctoral] place",
    "a [PhD|doctoral] position is open here",
    "you could start [a doctorate|a PhD|your thesis] with us",
    "I can imagine supervising your [thesis|PhD|doctorate]",
    "the department would let me take one more [doctoral student|PhD student]",
    "what you wrote about your plans convinced me",
    "there is [room|a desk|money] for you in the group",
    "I showed your letter to a colleague, and we should both like to go on",
    "our graduate school [has noticed your letter|would consider you]",
    "yes, I [would|do] take on somebody with your interests",
    "the topic that you propose would suit a thesis here",
)
OTHER_OFFER = (
    "I have no place for a thesis, but {position} is open",
    "a PhD is out of the question, while {position} could be yours",
    "instead of a doctorate I can offer {position}",
    "what I could give you is {position}, not a thesis",
    "the doctoral places are taken, so let us talk about {position}",
    "as long as there is no money for a PhD, you might take {position}",
    "would {position} interest you? A doctorate is not possible here",
    "for the PhD I cannot help you, for {position} I can",
    "the only thing that is free with us is {position}",
    "my proposal is {position}, as theses are closed to newcomers",
    "{position} would suit you better than a PhD, which I do not offer",
    "we are looking for somebody for {position}, and this is what I mean here",
)
POSITIONS = (
    "the job of a research assistant", "a place in our summer school", "a Master's scholarship",
    "a post as a teaching assistant", "an internship in the lab", "the job of a field assistant",
    "a travel grant for visitors", "a seat in the spring workshop", "a post as a laboratory technician",
    "a language course for guests",
)  # fmt: skip
NEED = (
    "please send me", "I need", "send", "the committee asks for", "for your file I want",
    "what I should like to have is", "our secretary would like to get", "you might let me have",
    "kindly mail", "we ask everybody for", "let me have", "the rules call for",
)  # fmt: skip
"""A list of files follows."""
REPLACED = (
    "my first list was wrong, please disregard it. Instead I need",
    "the committee has new rules. Instead of what I listed before, send",
    "forget the files that I named in my last mail and send these:",
    "what I asked for the other day is out of date. Now it is",
    "I mixed up two lists. The right one for you is",
    "please do not make the files of my first mail. Make",
    "the list you have from me belongs to another programme. Yours is",
    "our forms have changed, so what replaces my earlier list is",
    "scratch the earlier list. In its place I want",
    "the secretary tells me that my list was last year's. This year's is",
    "let me start again with the list, since the old one is void:",
    "rather than what I wrote before, we want",
)
ADDED = (
    "in addition to my first list, I need",
    "besides what I asked for already, send",
    "my list was not complete. Add to it",
    "on top of the file that I named, there should be",
    "to what you have from me already, please add",
    "I forgot half of the list. Beside the first file I want",
    "one more thing belongs to the material from my last mail, in addition:",
    "keep what I listed, and add",
    "together with the file of my first mail, also send",
    "the committee also wants, beside the first file,",
    "there is a second part to my list, to be added to the first:",
    "please add to your mail, apart from what I named,",
)
MORE_TO_COME = (
    "what else I need I will tell you in a second mail",
    "there will be another mail with the rest of the list",
    "the second part of the list follows",
    "more will be asked for in a few days",
    "wait for my next mail, which has the rest",
    "this is not all: I shall write again about the rest",
)
ALL_TOGETHER = (
    "all of it in one mail, please",
    "please put everything into one mail",
    "one mail with all the files will do",
    "do not send two mails for this",
    "let it all come together in one mail",
    "a single mail with all of it is best",
)
DEADLINE = (
    "the deadline is {day}",
    "I need it by {day}",
    "everything has to be here by {day}",
    "the list is closed at the end of {day}",
    "{day} is the last day for this",
    "we accept material until {day}",
    "let me have it no later than {day}",
    "you have until {day}",
    "after {day} nothing [is accepted|will be read]",
    "all files must reach us by {day}",
    "it will be read if it comes by {day}",
    "our office counts what is here by {day}",
    "{day} is as late as it may come",
)
EXTENDED = (
    "we have more time than I wrote",
    "the committee meets later than planned",
    "there is a new date for the same material",
    "the date that I gave you has been moved",
    "you are given more time",
    "the office has changed the date",
    "I was too strict about the date",
    "the faculty has put everything off",
)
SAME_FILES = (
    "what I asked for stays the same",
    "the list remains as it was",
    "nothing else changes",
    "the files are those of my first mail",
    "only the date is new",
    "all the rest is as I wrote",
)
REOPENED = (
    "a place has become free after all, so please forget my refusal",
    "I said no, and now I can say yes",
    "my refusal no longer holds, since a grant has come through",
    "somebody gave up a place, and I think of you in spite of what I wrote first",
    "please forget the no of my first mail",
    "the dean has given us one more place, so I take my refusal back",
    "what I wrote about having nothing free is no longer true",
    "contrary to my first answer there is a place now",
)
NO = (
    "I cannot take on [anybody|new students][ this year|]",
    "there is no [vacancy|place|desk] in my group",
    "I have no open position",
    "I do not supervise any more theses",
    "my group is full[, I am afraid|]",
    "the funding [was cut|has run out], so nothing can come of this",
    "somebody else has got the place",
    "the project [has been|was] stopped, and no place is left",
    "I am sorry to say no",
    "please look elsewhere, as I cannot help you",
    "I shall retire before you could finish, so it has to be a no",
    "it will not work out with us, so please send nothing",
    "the board did not let me have a place for you",
    "we must do without new people for some time",
)
"""Said by those who never asked for anything, and by those who take back that they did."""
UNDECIDED = (
    "it is too early to say; send nothing before I write again",
    "our grant is not decided, so please wait with your material",
    "I am still waiting for money and will write when I know more",
    "ask me again in the [summer|autumn|new year], for now I do not know",
    "the committee has not met yet, so keep your material until it has",
    "I shall talk to the dean first; nothing is needed from you before that",
    "let me think about it for some weeks before you send anything",
    "whether there will be a place is open, so hold your papers back",
)
AWAY = (
    "this is an automatic reply: I am away until {day}",
    "automatic reply: back on {day}",
    "I am on leave until {day} and this answer is automatic",
    "out of office until {day}; nobody has read your mail yet",
)
AWAY_RULES = (
    "applications for a PhD need a CV",
    "PhD applicants usually send CV and transcripts",
    "those who want a doctorate find the forms with the graduate school",
    "for urgent matters ask the secretary",
)
AIDE = (
    "do not send it to me, but to my assistant {name}, {email}",
    "{name} ({email}) collects everything for me: write there and not to me",
    "mail it to {email}, where {name} looks after applications, and not to my own address",
    "it should go to {name} at {email}, since my own mailbox is full",
    "my own address is not for this: please write to {email} ({name})",
    "the one to write to is {name}, {email}, instead of me",
    "address it to {name}, our secretary, at {email}; I do not want it myself",
    "for this, use the address {email} of {name}, not mine",
)
LETTERS = (
    "Enquiry about a PhD position", "Doctoral studies in your group", "PhD application",
    "A possible thesis with you", "Question about a doctorate", "PhD supervision",
)  # fmt: skip
"""Subjects of what the applicant wrote first."""
