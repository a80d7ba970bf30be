"""Wording of requests to leave or rejoin a list: a dozen ways for each."""

from __future__ import annotations

NEWSLETTER = (
    "your newsletter", "the newsletter", "the newsletter of the shop", "your shop's newsletter",
    "the shop newsletter", "your monthly newsletter",
)  # fmt: skip
OTHER_LISTS = (
    "your printed catalogue", "the voucher mailing", "the recipe letter", "the workshop calendar",
    "the price alarm", "the wish list reminder", "the gardening letter", "your club magazine",
)  # fmt: skip
"""Other mailings of the shop: leaving one leaves the newsletter unchanged."""

LEAVE = (
    "please take [me|my address|this address] off {what}",
    "kindly remove [me|my address|this address] from {what}",
    "I no longer [want|wish] to [get|receive|read] {what}",
    "please stop [sending|mailing] me {what}",
    "I would like to cancel {what} for [this|my] address",
    "[please |]do not send me {what} any [more|longer]",
    "{what} [should|need] not come to this address any [longer|more]",
    "I have had enough of {what}, so please [strike me out|leave me out|cross me off]",
    "please [make sure|see to it] that {what} does not [reach me|come] again",
    "please [end|stop] my subscription to {what}",
    "[count|leave] me out of {what} [from now on|in future]",
    "I would like to [cancel|unsubscribe from] {what} as of today",
    "I am unsubscribing from {what} with this [mail|message]",
    "forget this address, please, [when|whenever] you send out {what}",
)
RETURN = (
    "please put [me|this address] back on {what}",
    "I would like [to get|to receive] {what} again",
    "please [send|mail] me {what} again",
    "I have missed {what}: [add me|please add me|sign me up] again",
    "[may|could] I have {what} once more, as before? Please [enter me|add my address]",
    "please sign me up for {what} again",
    "I have [changed my mind|thought again|thought better of it] and want {what} after all",
    "[count me in|put me down] again for {what}",
    "[kindly|please] renew my subscription to {what}",
    "I should like to be on {what} as before, so please [enter|add] this address [anew|again]",
    "[from now on|from this week on] I would like {what} as I used to have it",
    "please let {what} come to this address again",
)
STAY = (
    "I nearly unsubscribed from {what} last [week|month|year], and I am glad [that I stayed|to have stayed]",
    "{what} [reached me|came] twice, but I like it, so keep it coming",
    "a [friend|colleague] wants to unsubscribe from {what}: how is that done",
    "I thought of cancelling {what}, but the last issue was too good",
    "my [neighbour|sister|boss] cancelled {what} and regrets it; I shall not make [this|that] mistake",
    "whoever unsubscribes from {what} misses something, as I keep telling my sister",
    "the link for leaving {what} does not work, by the way; I do not need it myself",
    "my [husband|wife|son] says that I should cancel {what}, and I say no",
    "[one bad issue|a dull month] is no reason to cancel {what}, so I will not",
    "what would happen to my [vouchers|points] if I ever cancelled {what}",
    "how many people cancel {what} in a [month|year]? It is for [a survey at school|my studies]",
    "I was asked whether I had cancelled {what}; I have not, and do not mean to",
)
"""They speak of leaving, and do not ask for it."""
PROXY_LEAVE = (
    "my {kin} ({address}) does not want {what} any more",
    "please take {address} off {what}, which is my {kin}'s",
    "on behalf of my {kin}: {address} should no longer get {what}",
    "the address {address} belongs to my {kin}, who wants to cancel {what}",
    "could you remove {address} from {what}? My {kin} asked me to write",
    "my {kin} has had enough of {what}, at {address}",
)
PROXY_RETURN = (
    "my {kin} wants {what} again, at {address}",
    "please enter {address} for {what} again, says my {kin}",
    "the address {address} is that of my {kin}, who misses {what} and would like to have it back",
    "could you put {address} back on {what}? It is for my {kin}",
)
"""Asked for somebody else, which counts for nothing."""
KIN = (
    "neighbour",
    "flatmate",
    "colleague",
    "partner",
    "boss",
    "tenant",
    "landlord",
    "friend",
    "tutor",
    "chess partner",
)
"""People who may be called anything."""
ANSWERS = (
    "Thank you for your mail of {day}. We have read it and shall write if there is anything to add.",
    "Many thanks for writing to us. We are always glad to hear how things are.",
    "Thank you for letting us know on {day}. It has gone to the colleagues at the counter.",
    "We got your mail of {day}, thank you. There is nothing more that we need from you.",
    "It is good to hear from a customer. We have made a note of it.",
    "Thank you, that was helpful. Please write again if anything changes.",
    "Thank you for your mail. If we have a question, we shall write again.",
    "Thanks! We saw your mail on {day} and did not get round to an answer until now.",
    "Noted, thank you. Should you need anything from us, please say so.",
    "Thank you for the details, which we have passed on to the colleagues who know about it.",
    "Thank you for taking the time to write. All of it is clear, as far as we can see.",
    "We have read this with pleasure. Do look in when you are next in town.",
)
"""Answers of the shop to those who wrote about nothing that matters."""
SUBJECTS = (
    "Newsletter", "Your mails", "A request", "Subscription", "My address", "Question", "Hello",
    "About your list", "My subscription", "For the office", "Mailing list", "A short note",
)  # fmt: skip
