"""Tasks as dependency trees of file reads, of exactly so many operations: the engine of TaskWeaver.

A tree is woven by one of two weavers (the paper's Algorithm 1): ``BottomUp``, where an operation computes
the identifier of the node it expands, and ``TopDown``, where it computes that node's value. What an
operation can be is said by operators, one module each below ``operators/``. How nodes read as documents or
as code is up to the family that uses the tree.
"""

from mesocosm.kits.weaving.expressions import TreeValue, ValueKind, evaluate
from mesocosm.kits.weaving.operator import Operator, load_operators, operator_names
from mesocosm.kits.weaving.supply import Numbers, Values
from mesocosm.kits.weaving.tree import Node, Register, Rule, Tree
from mesocosm.kits.weaving.weaver import BottomUp, Shape, TopDown, Weaver, free_id

__all__ = [
    "BottomUp",
    "Node",
    "Numbers",
    "Operator",
    "Register",
    "Rule",
    "Shape",
    "TopDown",
    "Tree",
    "TreeValue",
    "ValueKind",
    "Values",
    "Weaver",
    "evaluate",
    "free_id",
    "load_operators",
    "operator_names",
]
