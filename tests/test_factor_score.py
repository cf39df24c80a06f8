"""The scorer of FACTOR: what it reads out of answers as models phrase them, by hand-written cases.

A `Reading` is what a response concludes: the variables as in the column `answer`, "none" for the
empty set, a number as text, or None where it gives no answer. All symbolic ones ask for the value 2
and all realistic ones for a number of animals.
"""

import sys

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cogniload_gen.factor.score import (
    FactorOutcome,
    FactorScore,
    in_order,
    read_number,
    read_variables,
    score_factor,
    score_metrics,
)

SENTENCES = [
    ("The variable equal to 2 is v3.", "v3"),
    ("Therefore, the variable equal to 2 is v3.", "v3"),
    ("The variables equal to 2 are v0 and v12.", "v0, v12"),
    ("The variables equal to 2 are v0, v3, and v12.", "v0, v3, v12"),
    ("The variables that are equal to 2 are v12, v3 & v0.", "v0, v3, v12"),
    ("Only v3 is equal to 2.", "v3"),
    ("v3 is the only variable equal to 2.", "v3"),
    ("v3 is the only variable that equals 2", "v3"),
    ("v3 and v7 are the only variables that are equal to 2.", "v3, v7"),
    ("The only variable that has a value of 2 is v3.", "v3"),
    ("So the only variable whose value is 2 is v3.", "v3"),
    ("v3 is equal to 2.", "v3"),
    ("v3 and v7 are equal to 2.", "v3, v7"),
    ("Both v3 and v7 equal 2.", "v3, v7"),
    ("v3, v7 and v9 all have the value 2.", "v3, v7, v9"),
    ("Thus, v3 = 2.", "v3"),
    ("Therefore v3 = 2 and v7 = 2.", "v3, v7"),
    ("Hence v3 = v7 = 2.", "v3, v7"),
    ("Variable v3 has value 2.", "v3"),
    ("In conclusion, v3 takes the value 2.", "v3"),
    ("The value of v3 is 2.", "v3"),
    ("The variable with a value of 2 is v3.", "v3"),
    ("The variable equal to 2 in this system of equations is v3.", "v3"),
    ("The variable equal to 2, given the relationships in the text, is v3.", "v3"),
    ("Among all the variables, only v3 equals 2.", "v3"),
    ("Out of v0, v1, v2, v3 and v4, only v3 is equal to 2.", "v3"),
    ("There is one variable equal to 2: v3.", "v3"),
    ("There are 2 variables equal to 2: v3 and v7.", "v3, v7"),
    ("There are two variables that equal 2: v3, v7", "v3, v7"),
    ("v3 evaluates to 2.", "v3"),
    ("The answer is v3.", "v3"),
    ("The answer is v3 and v7.", "v3, v7"),
    ("The final answer is: v3, v7", "v3, v7"),
    ("The set of variables equal to 2 is {v3, v7}.", "v3, v7"),
    ("We conclude that v3 and v7 satisfy the condition.", "v3, v7"),
    ("Only v3.", "v3"),
    ("v3", "v3"),
    ("v3, v7, v12", "v3, v7, v12"),
    ("v3 and v7.", "v3, v7"),
    ("Using only these relationships, v5 equals 2.", "v5"),
    ("The variables are v3 and v7.", "v3, v7"),
    ("It follows that v10 is equal to 2.0.", "v10"),
    ("The variable that holds the value 2 is v3.", "v3"),
    ("What variables are equal to 2? v3 and v7.", "v3, v7"),
]

NOTATIONS = [
    (r"The variable equal to 2 is $v_3$.", "v3"),
    (r"The variables equal to 2 are $v_{0}$ and $v_{12}$.", "v0, v12"),
    (r"The final answer is $\boxed{v_3}$.", "v3"),
    (r"The final answer is $\boxed{v_{3}, v_{12}}$", "v3, v12"),
    (r"\boxed{v3}", "v3"),
    (r"$\boxed{\text{v3}}$", "v3"),
    (r"$$\boxed{v_3 \text{ and } v_{7}}$$", "v3, v7"),
    (r"\[ \boxed{\{v_3, v_7\}} \]", "v3, v7"),
    (r"The variables equal to 2 are $\boxed{v_3}$ and $\boxed{v_7}$.", "v3, v7"),
    (r"\(\boxed{v_{3} = 2}\)", "v3"),
    (r"Thus $\mathbf{v}_{3}$ and $\mathrm{v}_7$ are equal to 2.", "v3, v7"),
    (r"\[\boxed{\text{The variable equal to 2 is } v_{3}}\]", "v3"),
    (r"Therefore, $v_3=2$ and $v_7=2$, while $v_1 \neq 2$.", "v3, v7"),
    ("**The variable equal to 2 is v3.**", "v3"),
    ("The variable equal to 2 is **v3**.", "v3"),
    ("The variables equal to 2 are `v3` and `v7`.", "v3, v7"),
    ("The variables equal to 2 are *v3* and *v7*.", "v3, v7"),
    ("The variables equal to 2 are _v3_ and __v7__.", "v3, v7"),
    ("The variable equal to 2 is v₃.", "v3"),
    ("The variables equal to 2 are v₃ and v₁₂.", "v3, v12"),
    ("The variable equal to 2 is 𝑣₃.", "v3"),
    ("The variable equal to 2 is v<sub>3</sub>.", "v3"),
    ("The variable equal to 2 is v_3", "v3"),
    ("THE VARIABLES EQUAL TO 2 ARE V3 AND V_7.", "v3, v7"),
    ("The variable equal to 2 is v 3.", "v3"),
    ("The variable equal to 2 is v03.", "v3"),
    ("The variable equal to 2 is v\u00a03.", "v3"),
    ("The variables equal to 2 are \"v3\" and 'v7'.", "v3, v7"),
    ("The variables equal to 2 are “v3” and “v7”.", "v3, v7"),
    ("Answer: ['v3', 'v7']", "v3, v7"),
    ('{"answer": ["v3", "v7"]}', "v3, v7"),
    ("<answer>v3, v7</answer>", "v3, v7"),
    ("```\nv3\n```", "v3"),
    ("Final answer:\n```text\nv3, v7\n```", "v3, v7"),
]

LAYOUTS = [
    ("**Answer:** v3", "v3"),
    ("**Final Answer**\n\nv3", "v3"),
    ("## Final Answer\n\nThe variables equal to 2 are **v3** and **v7**.", "v3, v7"),
    ("### Conclusion\nv3 and v7 are the variables equal to 2.", "v3, v7"),
    ("**Final Answer:** The only variable equal to 2 is v3.", "v3"),
    ("Answer:\nv3\nv7", "v3, v7"),
    ("The variables equal to 2 are:\n- v3\n- v7\n- v12", "v3, v7, v12"),
    ("The variables equal to 2 are:\n\n* **v3**\n* **v7**\n", "v3, v7"),
    ("The variables equal to 2 are:\n\n1. v3\n2. v7\n", "v3, v7"),
    ("Variables equal to 2:\n- v3 = 2\n- v7 = 2", "v3, v7"),
    ("The variables equal to 2 are:\n- v3 = v4 + 1 = 2\n- v7 = v3 = 2.", "v3, v7"),
    ("The variables equal to 2 are:\n- v3 (v4 + 1)\n\n- v7 (= v3)", "v3, v7"),
    ("The variables equal to 2 are:\n\n• v3: v4 + 1 = 2\n• v7: v3 = 2", "v3, v7"),
    ("Variables equal to 2:\n\n| Variable | Value |\n|---|---|\n| v3 | 2 |\n| v7 | 2 |", "v3, v7"),
    ("Values:\n- v0 = 0\n- v3 = 2\n- v4 = 1\n\nTherefore, v3 is equal to 2.", "v3"),
    ("Values:\n- v0 = 0\n- v3 = 2\n- v7 = 2\nThe variables equal to 2 are v3 and v7.", "v3, v7"),
    ("v0 = 0\nv3 = 2\nv4 = 1\n\nThe variable equal to 2 is v3.", "v3"),
    ("v0 = 0, v1 = 0, v3 = 2, v4 = 1, so the variable equal to 2 is v3.", "v3"),
    ("- v0 = 0\n- v3 = 2\n- v7 = 2\n- v4 = 1", "v3, v7"),
    ("| Variable | Value |\n|---|---|\n| v0 | 0 |\n| v3 | 2 |\n| v7 | 2 |", "v3, v7"),
    ("v4 = v2 = 1\nv3 = v4 + 1 = 1 + 1 = 2\nv1 = v4 - 1 = 0", "v3"),
    ("Step 1: v2 = 1\nStep 2: v4 = v2 = 1\nStep 3: v3 = v4 + 1 = 2", "v3"),
    ("The variables equal to 2 are:\nv3\nv7\n\nv1 and v0 are equal to 0.", "v3, v7"),
    ("> **Answer:** v3 and v7", "v3, v7"),
    ("The variables equal to 2 are\n\nv3\n", "v3"),
    ("| # | Name | Value |\n|---|---|---|\n| 1 | v3 | 2 |\n| 2 | v4 | 1 |", "v3"),
    ("# Answer\n\nv3, and v7 too", "v3, v7"),
]

VALUES_BESIDE = [
    ("The variable equal to 2 is v3 (v3 = v4 + 1 = 2).", "v3"),
    ("The variables equal to 2 are v3 (which equals 2) and v7 (= v3).", "v3, v7"),
    ("The variables equal to 2 are v3 = 2 and v7 = 2.", "v3, v7"),
    ("The only variable is v3, with a value of 2.", "v3"),
    ("v3 = 2 is the only variable equal to 2.", "v3"),
    ("v3, which is 2, is the only variable equal to 2.", "v3"),
    ("Since v4 = 1 and v3 = v4 + 1 = 2, the variable equal to 2 is v3.", "v3"),
    ("Since v4 = v2 and v2 = 2, the variables equal to 2 are v2 and v4.", "v2, v4"),
    ("The only variable equal to 2 is v3, since v3 = v4 + 1 = 1 + 1 = 2.", "v3"),
    ("The only variable equal to 2 is v3, because v4 equals 1.", "v3"),
    ("v3 and v4 are equal to 2, while v1 = 3 isn't.", "v3, v4"),
    ("v3 and v7 equal 2, but v1 and v0 are equal to 0.", "v3, v7"),
    ("So only v3 equals 2, while v0 = v1 = 0 and v2 = v4 = 1.", "v3"),
    ("Only v3 is 2, v0 and v1 are 0, and v2 and v4 are 1.", "v3"),
    ("Only v3 is equal to 2; v2 and v4 are equal to 1.", "v3"),
    ("v3 is equal to 2 and v1 is not equal to 2.", "v3"),
    ("v3 is equal to 2, v1 and v4 are not.", "v3"),
    ("The variable equal to 2 is v3, and v4 is 1.", "v3"),
    ("v3 ≠ 2, v7 != 2, thus v9 is the variable equal to 2.", "v9"),
    ("Therefore: v0 (0), v3 (2), v4 (1), v7 (2).", "v3, v7"),
    ("In summary: v0 = 0, v3 = 2, v4 = -1, v7 = 12.", "v3"),
    ("The variables (v3 and v7) are equal to 2.", "v3, v7"),
    ("The variables v3 and v7 (both equal to 2) are the answer.", "v3, v7"),
    ("Answer: v3. v2 and v4 are equal to 1.", "v3"),
    ("Therefore, v3 = 1 + 1 = 2, so v3 is the variable that equals 2.", "v3"),
    ("v4 + 1 = 2, so v3 is equal to 2.", "v3"),
    ("The answer is v3, not v4.", "v3"),
    ("Therefore, v4 = 1: v3 = 2.", "v3"),
    ("The variables equal to 2 are v3 (v4 = 1) and v7 (v3 = 2).", "v3, v7"),
    ("The variables equal to 2 are v3 (2) and v4 (1).", "v3"),
    ("v3 is the only variable equal to 2, and v4 is the only variable equal to 1.", "v3"),
    ("Answer: v3 = 2, v4 = 1", "v3"),
    ("v3's value is 2.", "v3"),
    ("v3 and v7 — the only variables equal to 2.", "v3, v7"),
    ("v0 = 0, v3 = 2, v4 = 1, the variable equal to 2 is v3.", "v3"),
    ("The variable equal to 2 is therefore v3.", "v3"),
]

EMPTY_SETS = [
    ("No variable is equal to 2.", "none"),
    ("No variables are equal to 2.", "none"),
    ("None of the variables are equal to 2.", "none"),
    ("None of the variables equals 2, since v0 = 0 and v1 = 3.", "none"),
    ("None of the variables (v0, v1, v2) are equal to 2.", "none"),
    ("Therefore, none.", "none"),
    ("None", "none"),
    ("Answer: None", "none"),
    ("**Answer:** none of them (v0 = 0, v1 = 3)", "none"),
    ("There is no variable equal to 2.", "none"),
    ("There are no variables equal to 2 in the given text.", "none"),
    ("There is no such variable.", "none"),
    ("There aren't any variables equal to 2.", "none"),
    ("Neither v0 nor v1 is equal to 2.", "none"),
    ("The set of variables equal to 2 is empty.", "none"),
    ("The answer is the empty set.", "none"),
    (r"$\boxed{\emptyset}$", "none"),
    (r"\boxed{\varnothing}", "none"),
    (r"\boxed{\text{None}}", "none"),
    (r"$\boxed{\text{No variables are equal to 2}}$", "none"),
    (r"The final answer is $\boxed{\{\}}$.", "none"),
    ("The answer is {}.", "none"),
    ("Answer: []", "none"),
    ("Answer: ∅", "none"),
    ("There are 0 variables equal to 2.", "none"),
    ("Zero variables equal 2.", "none"),
    ("v0 = 0, v1 = 3.\n\nThus, not a single variable equals 2.", "none"),
    ("Since the values are v0 = 0 and v1 = 3, no variable has the value 2.", "none"),
    ("**No variables** are equal to **2**.", "none"),
    ("No, none of the given variables equal 2.", "none"),
    # a word of emptiness that is not about the answer
    ("v3 is equal to 2. No other variables are equal to 2.", "v3"),
    ("v3 is the only variable equal to 2; none of the others are.", "v3"),
    ("No variable other than v3 is equal to 2.", "v3"),
    ("No variables except v3 and v7 are equal to 2.", "v3, v7"),
    ("No variable is equal to 2 besides v3.", "v3"),
    ("The variable equal to 2 is v3. None of the variables equals 5.", "v3"),
]

BEFORE_AND_AFTER = [
    ("<think>v7 is equal to 2. Hmm, no.</think>\n\nThe variable equal to 2 is v3.", "v3"),
    ("I think.</think>v3", "v3"),
    ("<think>The variable equal to 2 is v3.", None),
    ("<|channel|>analysis<|message|>v7?<|channel|>final<|message|>Answer: v3", "v3"),
    ("[THINK]Answer: v7[/THINK]Answer: v3", "v3"),
    ("v5 is equal to 2.\nWait, v5 is equal to 3.\nSo the variable equal to 2 is v3.", "v3"),
    ("The variable equal to 2 is v3. I hope this helps!", "v3"),
    ("The variables equal to 2 are v3 and v7. These are the only variables equal to 2.", "v3, v7"),
    ("The variables equal to 2 are v3 and v7.\n\nLet me know if you have questions.", "v3, v7"),
    ("Final Answer: v3 and v7\n\nCheck: v3 = v4 + 1 = 2, and v7 = v3 = 2.", "v3, v7"),
    ("Final Answer: v3 and v7\n\nCheck:\n- v3 is equal to 2 ✓\n- v4 is 1 ✓", "v3, v7"),
    ("The answer is v3, v7.\nNote that the variable v3 is equal to 2 as v4 = 1.", "v3, v7"),
    ("The answer is v3, v7.\nVerification: v3 = 1 + 1 = 2 ✓", "v3, v7"),
    ("The answer is v3, v7.\nv3 = v4 + 1 = 2 ✓\nv7 = v3 = 2 ✓", "v3, v7"),
    ("The answer is v3, v7.\nThis is because v3 is equal to 2.", "v3, v7"),
    ("The answer is v3.\nSo both conditions hold.", "v3"),
    ("The answer is v3. (v4 and v2 are 1.)", "v3"),
    ("Explanation: v4 = 1, so v3 = 2. The variable equal to 2 is v3.", "v3"),
    ("We want the variables equal to 2.\n\nv2 = 1\n\nv4 = 1\n\nSo v3 = 2 is the answer.", "v3"),
    (r"The answer is v3. \boxed{2}", "v3"),
    ("v3 = 2\nv4 = 1\nv7 = 2", "v3, v7"),
    ("v5 = 2\nThat was wrong.\nTherefore v3 = 2.", "v3"),
    ("v5 = 2\nThat was wrong.\nv3 is equal to 2.", "v3"),
    ("Note: v5 = 2 was wrong. The variable equal to 2 is v3.", "v3"),
    ("The final answer is v3.\n\nThe final answer is v7.", "v7"),
    ("I think the answer is v3. Actually, the answer is v7.", "v7"),
]

NO_ANSWERS = [
    ("I don't know.", None),
    ("The text contains relationships between variables.", None),
    ("Let's solve this step by step. First, v4 = v2.", None),
    ("v2 = 1\nv4 = v2 = 1\nv0 = v4 - 1 = 0", None),
    ("The answer is 2.", None),
    (r"\boxed{2}", None),
    ("v1 = v4 - 1, v0 = v4 - 1, v3 = v4 + 1", None),
    ("@<<<assign v1 = v4 - 1>>>@ algorithm data", None),
    ("The variable equal to 2 is", None),
    ("The answer follows from v4 = v2.", None),
    ("The variables v2 and v4 are equal to 1.", None),
    ("...", None),
    ("rev3 and v3x and mv4 are equal to 2", None),
]

MORE = [
    (
        "Based on the relationships, the variables equal to 2 are v3 and v7, which both "
        "derive from v4.",
        "v3, v7",
    ),
    ("Therefore, the variables v3, v7, and v12 are equal to 2.", "v3, v7, v12"),
    ("Therefore, variable v3, variable v7, and variable v12 are equal to 2.", "v3, v7, v12"),
    (
        "Thus, the variables that are equal to 2 are **v3**, **v7**, and **v12**, as v3 = v4 "
        "+ 1, v7 = v3, v12 = 2.",
        "v3, v7, v12",
    ),
    (
        "The variables equal to 2 are v3, v7 and v12 because v3 = v4 + 1 = 2, v7 = v3 = 2 and "
        "v12 = 2.",
        "v3, v7, v12",
    ),
    ("v3 is equal to 2. v7 is also equal to 2.", "v3, v7"),
    ("v3 is equal to 2.\nv7 is equal to 2.", "v3, v7"),
    ("The variables equal to 2 are v3 and v7 (v3 = v4 + 1, v7 = v3).", "v3, v7"),
    ("Since v2 = v4, v3 and v7 are equal to 2.", "v3, v7"),
    (
        "The variables with the value of 2 are v3 and v7, while the rest have other values.",
        "v3, v7",
    ),
    ("The variable $v_3$ is the only variable equal to $2$.", "v3"),
    ("Final Answer: The final answer is $\\boxed{v_3, v_{12}}$. I hope it is correct.", "v3, v12"),
    ("## Step 5: Conclusion\nThe variables equal to 2 are v3 and v7.", "v3, v7"),
    (
        "## Step 3: Identify variables equal to 2\nFrom the calculations, v3 and v7 are equal "
        "to 2.\n\nThe final answer is: $\\boxed{v3, v7}$",
        "v3, v7",
    ),
    ("The final answer is: $\\boxed{0}$", None),
    ("**Conclusion:** The variables equal to 2 are:\n\n$$\\boxed{v_3, v_7}$$", "v3, v7"),
    ("Therefore, the variables that are equal to 2 are:\n\\[\nv_3, v_7\n\\]", "v3, v7"),
    ("$$\n\\boxed{\nv_3\n}\n$$", "v3"),
    (
        "\\begin{align}\nv_3 &= v_4 + 1 \\\\\n&= 2\n\\end{align}\nThus the only variable "
        "equal to 2 is v3.",
        "v3",
    ),
    ("v3=2", "v3"),
    ("So, v3=2 is our answer", "v3"),
    ("The variable equal to 2 is:\n\nv3", "v3"),
    ("So the answer is **v3** (since v3 = v4 + 1 = 2), and no other variable equals 2.", "v3"),
    ("After evaluating all of the equations, only **v3** has the value **2**.", "v3"),
    ("v3 and v7 are both 2.", "v3, v7"),
    ("After solving, v3 is 2.", "v3"),
    ("Hence there is exactly one variable equal to 2, namely v3.", "v3"),
    ("The variables equal to 2 are as follows: v3, v7.", "v3, v7"),
    ("The following variables are equal to 2: v3, v7", "v3, v7"),
    (
        "The following variables equal 2:\n\n- **v3** (from `v3 = v4 + 1`)\n- **v7** (from "
        "`v7 = v3`)",
        "v3, v7",
    ),
    ("So our final list of variables equal to 2: v3, v7.", "v3, v7"),
    ("List of variables that are equal to 2: [v3, v7]", "v3, v7"),
    ("Only v3 and v7 meet this criterion.", "v3, v7"),
    ("From these calculations, we can see that v3 and v7 are equal to 2.", "v3, v7"),
    ("Therefore, v3 and v7 are equal to 2, whereas none of v0, v1 and v4 are.", "v3, v7"),
    ("Therefore the variable(s) equal to 2 is/are v3.", "v3"),
    ("The variable(s) equal to 2: v3", "v3"),
    ("Variable(s) equal to 2: none", "none"),
    ("There isn't a variable equal to 2.", "none"),
    ("Therefore, there is no variable that equals 2 among v0, v1, v2.", "none"),
    ("Thus none of v0, v1, v2, or v3 equals 2.", "none"),
    ("None of these variables have a value of 2. Therefore, the answer is: none.", "none"),
    ("The values found are 0, 1, and 3. None equals 2.", "none"),
    ("**No variable equals 2.** (v0 = 1, v1 = 3)", "none"),
    ("Since none of the values is 2, the answer is that no variable is equal to 2.", "none"),
    ("v0=1\n\nNo variables equal 2.\n\nThe final answer is: $\\boxed{None}$", "none"),
    ("We have v0 = 5, so no variables are equal to 2, i.e., the set is empty.", "none"),
    ("v0, v1 and v2 are all not equal to 2, therefore there are none.", "none"),
    ("v3 = 2, v7 = 2, v12 = 2 — so the variables equal to 2 are v3, v7, v12.", "v3, v7, v12"),
    (
        "Among these, v3 and v7 have the value 2, so the variables equal to 2 are v3 and v7.",
        "v3, v7",
    ),
    ("The variables equal to 2 are v3 and v7, with v0 = 0, v1 = 0, v2 = 1, v4 = 1.", "v3, v7"),
    ("The variables equal to 2 are v3, v7, with v0 and v1 being 0.", "v3, v7"),
    ("v3 → 2, v7 → 2, v4 → 1", "v3, v7"),
    ("v3: 2\nv7: 2\nv4: 1", "v3, v7"),
    ("v4 = 1 → v3 = 2. Therefore v3 is the answer.", "v3"),
    ("v4 = 1 ⇒ v3 = v4 + 1 = 2", "v3"),
    ("Therefore, v4 = 1 ⟹ v3 = 2", "v3"),
    ("Answer: The variable equal to 2 is v3, since v2=1 ⇒ v4=1 ⇒ v3=2.", "v3"),
    (
        "In conclusion, the only variable that is equal to 2 based on the given relationships "
        "is v3.",
        "v3",
    ),
    ("So, the variables that are equal to 2 are v3 and v7; all others are 0 or 1.", "v3, v7"),
    ("the variable equal to 2 is v3 and the variable equal to 1 is v4", "v3"),
    (
        "Variables equal to 2: v3, v7\nVariables equal to 1: v4, v2\nVariables equal to 0: v0",
        "v3, v7",
    ),
    (
        "- Variables equal to 1: v4, v2\n- Variables equal to 2: v3, v7\n- Variables equal to "
        "3: v9",
        "v3, v7",
    ),
    (
        "v_3 and v_7 are the only variables with value $2$; hence the answer is $\\{v_3, v_7\\}$.",
        "v3, v7",
    ),
    ("The variables v3, v7 and v12 each equal 2.", "v3, v7, v12"),
    ("The answer: v3 & v7", "v3, v7"),
    ("Answer - v3", "v3"),
    ("v3 only", "v3"),
    ("v3 + v7", None),
    ("So v3 and v7 = 2.", "v3, v7"),
    ("The variable v3 is equal to v4 + 1, which is 2.", "v3"),
    ("The answer is v3, because it's equal to v4 + 1 = 1 + 1 = 2.", "v3"),
    (
        "So the values are: v0 is 0, v1 is 0, v2 is 1, v3 is 2, and v4 is 1. The variable "
        "that equals 2 is v3.",
        "v3",
    ),
    (
        "Conclusion: The variables which are equal to 2 in the text are v3, v7, and v9, as "
        "determined by following the chain of assignments.",
        "v3, v7, v9",
    ),
    ("From the above, v3 equals 2, and so does v7.", "v3, v7"),
    ("In this case, v3 is equal to 2, as is v7.", "v3, v7"),
]

WHOLE_RESPONSES = [
    (
        "To determine which variables equal 2, let's solve.\n\n### Step 1\n- \\( v_2 = 1 "
        "\\)\n- \\( v_4 = v_2 = 1 \\)\n- \\( v_3 = v_4 + 1 = 2 \\)\n\n### Final Answer\n\\["
        "\n\\boxed{v_3}\n\\]",
        "v3",
    ),
    (
        "### Summary\n\n| Variable | Expression | Value |\n"
        "|:--------:|:----------:|:-----:|\n| $v_0$ | $v_4 - 1$ | 0 |\n| $v_3$ | $v_4 + 1$ "
        "| **2** |\n| $v_4$ | $v_2$ | 1 |\n\nThus, **$v_3$** is the only variable equal to "
        "2.",
        "v3",
    ),
    (
        "| Variable | Expression | Value |\n|---|---|---|\n| v0 | v4 - 1 | 0 |\n| v3 | v4 "
        "+ 1 | **2** ✅ |\n| v4 | v2 | 1 |\n\n✅ **Final Answer: v3**",
        "v3",
    ),
    ("So the variables equal to 2 are:\n\n$$\nv_3,\\; v_7,\\; v_{12}\n$$", "v3, v7, v12"),
    (
        "From this we see that $v_3=2$ and $v_{11}=2$; every other variable takes a value "
        "different from 2.\n\n**The variables equal to 2 are v₃ and v₁₁.**",
        "v3, v11",
    ),
    (
        "So, the final list of variables equal to 2:\n\n1. **v3** (2)\n2. **v7** (2)\n\n"
        "These are the only two variables equal to 2.",
        "v3, v7",
    ),
    (
        "Here's the breakdown:\n\n* v3 = v4 + 1 = 1 + 1 = 2\n* v7 = v3 = 2\n* v9 = v7 + 1 "
        "= 3\n\nThe variables that are equal to 2 are **v3 and v7**.",
        "v3, v7",
    ),
    (
        "Values summary:\n- Value 0: v0, v1\n- Value 1: v2, v4\n- Value 2: v3, v7\n\nThe "
        "variables equal to 2 are v3, v7.",
        "v3, v7",
    ),
    (
        "**Tree 1 (root v2 = 1):** v4 = 1, v3 = 2\n**Tree 2 (root v5 = 4):** v6 = 3, v7 = 2"
        "\n\nThe variables equal to 2 are v3 and v7.",
        "v3, v7",
    ),
    ("$\\boxed{v_{3},v_{7},v_{12}}$", "v3, v7, v12"),
    (
        "**v3** and **v7** are equal to 2, since:\n- v4 = 1\n- v3 = v4 + 1 = 2\n- v7 = v3 = 2",
        "v3, v7",
    ),
    (
        "Therefore, the variable that is equal to 2 is **v3**.\n\n---\n\nLet me know if "
        "you'd like me to walk through v4 or v2 as well!",
        "v3",
    ),
    (
        "<|start|>assistant<|channel|>analysis<|message|>We need v7... "
        "v7=2?<|end|><|start|>assistant<|channel|>final<|message|>The variable equal to 2 "
        "is **v₃**.",
        "v3",
    ),
    (
        "Okay, so v4=1. v3=2? yes. v9: v9 = v3 + 1 = 3.\n</think>\n\nStep 1: v4 = 1.\nStep "
        "2: v3 = 2.\n\n**Conclusion:** The variable equal to 2 is v3.",
        "v3",
    ),
    (
        "I computed each variable:\n\nv0 = 0\nv1 = 0\nv2 = 1\nv3 = 2\nv4 = 1\n\nSo the "
        "variable that equals 2: v3 ✅",
        "v3",
    ),
    (
        "**Variables equal to 2:**\n\n- v3\n- v7\n\n**Variables not equal to 2:**\n\n- v0\n- v4",
        "v3, v7",
    ),
    ("Group by value:\n\n2: v3, v7\n1: v2, v4\n0: v0, v1", "v3, v7"),
    (
        "Thus, the variables equal to 2 are v3, v7, v12, v15, and v22, based on the "
        "relationships given in the text, such as v3 = v4 + 1 and v22 = v15.",
        "v3, v7, v12, v15, v22",
    ),
    ("- v3 = 2 ✅\n- v4 = 1 ❌\n- v7 = 2 ✅\n\n**Variables equal to 2:** v3, v7", "v3, v7"),
    (
        "Therefore, the variables that are equal to 2 are: v1, v5, v8. These are all the "
        "variables equal to 2 based on the 5 relationships.",
        "v1, v5, v8",
    ),
    ("$\\boxed{v_3\\text{ only}}$", "v3"),
    ("Hence, \\(v_3\\) is the only variable with value 2. \\(\\boxed{v_3}\\)", "v3"),
    ("So the values are:\n\nv0: 0\nv1: 0\nv2: 1\nv3: 2\nv4: 1\n\nOnly v3 equals 2.", "v3"),
    ("**Final Answer:**\n\n$$\n\\boxed{v_3,\\ v_7}\n$$\n", "v3, v7"),
    (
        "**Final Answer:**\nThe variables equal to 2 are:\n$$\n\\boxed{\\{v_3, v_7\\}}\n$$\n",
        "v3, v7",
    ),
    ("Now, identify variables equal to 2:\n- v3 = 2 ✔\n- v4 = 1 ✘\n\nFinal answer: v3", "v3"),
    (
        "Check:\n| Var | Value | Equal to 2? |\n|---|---|---|\n| v0 | 0 | No |\n| v3 | 2 | "
        "Yes |\n| v4 | 1 | No |\n",
        "v3",
    ),
    (
        "| Var | Value | Equal to 2? |\n|---|---|---|\n| v0 | 0 | ❌ |\n| v3 | 2 | ✅ |\n| "
        "v4 | 1 | ❌ |\n\n**Answer:** Only **v3**.",
        "v3",
    ),
    (
        "So, from the above, the following are equal to 2:\n\n- v3\n- v7\n\nAll of the "
        "other variables have values of 0, 1 or 3.",
        "v3, v7",
    ),
    ("In short:\n\n• v3 and v7 equal 2\n• v2 and v4 equal 1\n• v0 equals 0", "v3, v7"),
    ("Thus, the variables which equal 2 are:\n\n1) v3\n2) v7", "v3, v7"),
    ("Thus the variables equal to 2 are:\n\nv3, v7,\nv12, v13", "v3, v7, v12, v13"),
    (
        "The variables equal to 2 are v3 and v7.\n\n**Explanation:**\n- v3 = v4 + 1 = 2\n- v7 = v3",
        "v3, v7",
    ),
    (
        "Answer: The variables equal to 2 are v3 and v7.\n\nReasoning:\n1. v2 = 1\n2. v4 = "
        "v2 = 1\n3. v3 = v4 + 1 = 2, so v3 is equal to 2.",
        "v3, v7",
    ),
    ("Answer: v3\n\nStep-by-step:\n1. v2 = 1\n2. v4 = v2 = 1\n3. v3 = v4 + 1 = 2", "v3"),
    (
        "**Answer:** v3, v7\n\n**Step-by-step reasoning:**\n- v2 = 1 → v4 = 1\n- Therefore "
        "v3 = 2\n- So v7 = 2",
        "v3, v7",
    ),
    (
        "The variables equal to 2 are \\(v_{3}\\), \\(v_{7}\\), and \\(v_{12}\\). "
        "\\(\\blacksquare\\)",
        "v3, v7, v12",
    ),
]

# Denials and what takes them back, lists after a blank line, and marks that a rule names.
CORNERS = [
    ("No variable is equal to 2, but v3 equals 1.", "none"),
    ("No variable is equal to 2; all are 3 or more.", "none"),
    ("None of the variables is 2 (the largest is v7 with 1, the others are lower).", "none"),
    ("None of the variables equals 2: v3 is 1 and all the others are 3 or more.", "none"),
    ("No variable has the value 2; v0 is 1, and the rest are above 2.", "none"),
    ("No variable equals 2, since v3 is 1 and every other variable is larger.", "none"),
    ("There are no variables equal to 2; v3 comes closest, but it equals 1.", "none"),
    ("There are no other variables equal to 2.", None),
    ("v3 is equal to 2, and there are no others.", "v3"),
    ("No variables but v3 and v7 are equal to 2.", "v3, v7"),
    ("No variable apart from v3 equals 2.", "v3"),
    ("There isn't another variable equal to 2 besides v3.", "v3"),
    ("There are no variables equal to 2 aside from v3.", "v3"),
    ("There are no variables, other than $v_3$, that equal 2.", "v3"),
    ("There are no variables except for variable v3 that equal 2.", "v3"),
    ("v3 equals 2. There are no more variables equal to 2.", "v3"),
    ("v3 equals 2. There are no additional variables equal to 2.", "v3"),
    ("v3 equals 2. None of the remaining variables equals 2.", "v3"),
    ("v3 equals 2. None of the 4 other variables equals 2.", "v3"),
    ("v3 equals 2. Not any of the rest equals 2.", "v3"),
    ("v3 equals 2. There isn't any other variable equal to 2.", "v3"),
    ("v3 equals 2. There isn't anything else equal to 2.", "v3"),
    ("v3 equals 2. No others equal 2.", "v3"),
    ("v3 equals 2. Nothing else does.", "v3"),
    ("I did not find any variables equal to 2.", "none"),
    ("We don't find any variable equal to 2.", "none"),
    ("There doesn't exist any variable equal to 2.", "none"),
    ("We do not see any variable equal to 2.", "none"),
    ("The text does not contain any variable equal to 2.", "none"),
    ("We cannot find any variable equal to 2.", "none"),
    ("The variables equal to 2 are v3 and v7, and v4 is 1.", "v3, v7"),
    ("Final Answer:\n\nv3\nv7", "v3, v7"),
    ("**Final Answer:**\n\n**v3**\n**v7**\n**v12**", "v3, v7, v12"),
    ("### Final Answer:\n\n**v3 = 2**\n**v7 = 2**", "v3, v7"),
    ("The variables with value 2:\n\n$$v_3 = 2$$\n$$v_7 = 2$$", "v3, v7"),
    ("**Final Answer:**\n\nv3 and v7 are equal to 2.\nv0 and v1 are equal to 0.", "v3, v7"),
    ("**Final Answer:**\n\nv3 is equal to 2.\nv4 is equal to 1.", "v3"),
    ("**Final Answer:**\n\nv3 and v7\n\nv4 and v2 are equal to 1.", "v3, v7"),
    (
        "Let's verify: v9 = v3 + 1 = 3.\nThe answer is v3, v7.\nLet's verify that the "
        "variable v3 is equal to 2 as v4 = 1.",
        "v3, v7",
    ),
    ("Result: v3 and v7", "v3, v7"),
    ("v4 = 1 => v3 = 2", "v3"),
    ("v4 = 1; v3 = 2", "v3"),
    ("No variable equals 2, so none of v0, v1 and v2 are equal to 2.", "none"),
    ("There is no variable equal to 2; neither v0 nor v1 equals 2.", "none"),
    ("Neither v0 nor v1 is equal to 2, so the only variable equal to 2 is v3.", "v3"),
    ("None of the roots is 2, but v3 is equal to 2.", "v3"),
    ("None of v0, v1 and v2 equals 2, while v3 = 2.", "v3"),
    ("No variable equals 2; the variables are v0 = 5 and v1 = 6.", "none"),
    ("No variable equals 2, so the set is empty.", "none"),
    ("No variable is equal to 2 but v3.", "v3"),
    ("No variables but v3 equal 2.", "v3"),
    ("**Final result:** v3", "v3"),
    ("Solution: v3, v7", "v3, v7"),
    ("Step 1. Result: v3 = 2\nStep 2. Result: v7 = 2", "v3, v7"),
    ("v0 = 0\nv1 = 3\n\nNeither of them is equal to 2.", "none"),
    ("<reasoning>v7?</reasoning>Answer: v3", "v3"),
    ("◁think▷v7?◁/think▷Answer: v3", "v3"),
    ("Answer: v3 <reasoning>The answer is v7.", "v3"),
    ("Answer: v3 [THINK]The answer is v7.", "v3"),
    ("Answer: v3 ◁think▷The answer is v7.", "v3"),
    ("Answer: v3 <|channel|>analysis<|message|>The answer is v7.", "v3"),
    ("<answer>v3</answer>\nNote that v7 is equal to 2 if v3 is.", "v3"),
    ("v3 is 2. Thus there isn't any other variable equal to 2.", "v3"),
    ("v3 is 2. Not a single other variable is equal to 2.", "v3"),
    (r"Answer: $\emptyset$", "none"),
    (r"The answer: $\varnothing$.", "none"),
    (r"Therefore $v_3$, as $v_4 \not= 2$.", "v3"),
    ("# Conclusion\n\nv3, and v7 too", "v3, v7"),
    ("So v3 is v4 plus 1, which is 2.", "v3"),
    ("So v3 is v4 minus 1, which is 2.", "v3"),
    ("v3 -> 2, v7 -> 2, v4 -> 1", "v3, v7"),
    ("v3 = 2, v4 = 1, the variable that has the value 2 is v3.", "v3"),
    ("v3 = 2, v4 = 1, the variable which has the value 2 is v3.", "v3"),
    ("v3 = 2, v4 = 1, the variable with value 2 is v3.", "v3"),
    ("v3 = 2, v4 = 1, the variable whose value is 2 is v3.", "v3"),
    ("v3 = 2, v4 = 1, the variable having the value 2 is v3.", "v3"),
    ("At first v5 is equal to 2.\nSo v3 = 2.", "v3"),
    ("The variable is v3, by counting.", "v3"),
    ("Nothing equals 2.", "none"),
    ("We do not have any variable equal to 2.", "none"),
    ("Not any of them is equal to 2.", "none"),
    ("Not a single one is equal to 2.", "none"),
    ("There are not any.", "none"),
    ("There aren't any.", "none"),
    ("There is not a variable equal to 2.", "none"),
    ("v3 is 2. Therefore there isn't anything else equal to 2.", "v3"),
    ("v3 is 2. Therefore nothing else is equal to 2.", "v3"),
    ("v3 is 2. Therefore there is not another equal to 2.", "v3"),
    ("v3 is 2. Therefore there isn't another equal to 2.", "v3"),
    ("v3 is 2. Therefore no further variable equals 2.", "v3"),
    ("v3 is 2. Therefore none of these others equals 2.", "v3"),
    ("v3 is 2. Therefore none of the rest equals 2.", "v3"),
    ("Beyond v3, no variable equals 2.", "v3"),
    ("None of v0 and v1 equals 2; v3 = 2.", "v3"),
    ("None of v0 and v1 equals 2, whereas v3 = 2.", "v3"),
]

# Asked for another value than 2.
OTHER_TARGETS = [
    (3, "v3 and v7 are the only 2 variables.", "v3, v7"),
    (
        9,
        "So v2, v4, and v6 each have the value 9, and the others (v0, v1, v3, v5) do not.",
        "v2, v4, v6",
    ),
    (6, "So none of the 20 variables has a value of 6 (values range from 0 to 5).", "none"),
    (9, "There is no variable that is equal to 9: v2 = 8, v4 = 10.", "none"),
    (9, "Among all 39 variables, exactly 3 are equal to 9: v2, v4, v6.", "v2, v4, v6"),
    (9, "The variable with the value 9 is v2; the variable with the value 8 is v3.", "v2"),
    (7, "The variables v1 and v5 are equal to 7, and v9 is also equal to 7.", "v1, v5, v9"),
    (7, "v1 doesn't equal 7, so there are no variables equal to 7.", "none"),
    (-1, "The variables equal to -1 are v3 and v7.", "v3, v7"),
    (-1, "Therefore, v5 = v2 - 1 = 0 - 1 = -1, and the only variable equal to −1 is v5.", "v5"),
    (-1, "**Final Answer:** \\(\\boxed{v_5}\\) is equal to \\(-1\\).", "v5"),
    (-1, "| v5 | -1 |\n| v6 | 0 |\n\nVariables equal to -1: v5", "v5"),
    (-1, "No variable is equal to -1. The lowest value is 0 (v3, v5).", "none"),
    (-1, "Final Answer: the variables with value -1 are: **v0**, **v9**.", "v0, v9"),
    (-2, "v8 (which is -2) and v9 (-1)... so the variable equal to -2 is v8.", "v8"),
    (10, "Answer: v10 = 10, v1 = 9.", "v10"),
    (0, "The variables equal to 0 are v0 and v1.", "v0, v1"),
    (0, "There are 0 variables equal to 0.", "none"),
    (1, "There is 1 variable equal to 1: v4.", "v4"),
    (11, "No variable is equal to 11; the maximum value is 10 (v7).", "none"),
    (-1, "Thus v5 = -1 and v6 = -1. The answer is v5 and v6.", "v5, v6"),
    (-1, "v5 has the value -1, v6 has value -2, v7 has value 1.", "v5"),
    (-1, "The variables equal to -1 are:\n- v5 (v2 - 1 = 0 - 1 = -1)\n- v6 (v5)", "v5, v6"),
    (-1, "- v5 = -1 \n- v6 = 1", "v5"),
    (-1, "Variable(s) equal to -1: v5.", "v5"),
    (-1, "The variable equal to negative one (-1) is v5.", "v5"),
    (-1, "$v_5 = v_2 - 1 = 0 - 1 = -1$, so $\\boxed{v_5}$", "v5"),
    (12, "The variable equal to 12 is v12, since v12 = v11 + 1 = 12.", "v12"),
    (5, "Hence v5 = 6, v6 = 5, so the answer is v6.", "v6"),
    (5, "The variables equal to 5 are v6 = 5, v8 = v6 = 5, v11 = v8 + 1 - 1 = 5.", "v6, v8, v11"),
]

WORDS = [
    # sentence, what it concludes with each of the words and with no other word
    (
        "v3 {0} 2, v4 {0} 1.",
        "v3",
        "is are was were be being equal equals equalling equaling value values valued has have "
        "having hold holds take takes become becomes evaluates give gives yield yields",
    ),
    (
        "v4 is 1, v3 {} is 2, v7 is 2.",
        "v3, v7",
        "to of the a an which that whose with it its this these those all both each every also "
        "indeed exactly does do did variable vars one ones s final set any following answer",
    ),
    ("Therefore v3, as v4 {} 2.", "v3", "≠ not never cannot nor isn't < > <= >= !="),
    ("v3 is 2, {} v7.", "v3, v7", "as_is as_are as_do as_does as_did as_has as_have and_so_does"),
    (
        "The variable equal to 2 is {} v3, v4 is 1.",
        "v3",
        "only just solely therefore thus hence so then",
    ),
    ("The variables equal to 2 are v3 {} v7, v4 is 1.", "v3, v7", "and or &"),
    (
        "{} by counting, v3.",
        "v3",
        "answer only just solely therefore thus hence conclusion conclude finally in_summary "
        "overall consequently result solution so,",
    ),
    (
        "The answer is v3, v7.\n{} that the variable v3 is equal to 2.",
        "v3, v7",
        "note verify verifying check double-check doublecheck to_verify let_us_check let's_confirm "
        "let's_double explanation justification because this_is_because where recall",
    ),
]

# Said clearly, and still not read: a change of a rule that reads one of these moves it up.
NOT_READ = [
    ("The variables equal to 2 are v3 through v5.", "v3"),
    ("The variable equal to two is v3.", None),
    ("The variables equal to 2 are v3/v7.", None),
    ("It is not possible for any variable to be equal to 2.", None),
    ("No v's equal 2.", None),
    ("No solution.", None),
    ("Values summary:\n- Value 0: v0, v1\n- Value 1: v2, v4\n- Value 2: v3, v7", "v2, v4"),
    ("The variables equal to two are v3 and v7.", None),
    ("v3 ✓ (2)\nv4 ✗ (1)\nv7 ✓ (2)", "v7"),
    ("2 is not the value of any variable.", None),
    ("No $v_i$ equals 2.", None),
    ("Thus, the variables which equal 2 are:\n\n(a) v3\n(b) v7", "v3"),
    ("S = {v3, v7}", None),
    ("The variables equal to 2 are: v3; v7; v9.", "v3"),
    ("The variables equal to 2 are v3 v7 and v9.", "v3"),
    ("The variables equal to 2 are v3 [given] and v4 [= v3].", "v3"),
    ("Not one of the variables equals 2.", None),
    ("Final: v3, v7", None),
]

SYMBOLIC = [
    *SENTENCES,
    *NOTATIONS,
    *LAYOUTS,
    *VALUES_BESIDE,
    *EMPTY_SETS,
    *BEFORE_AND_AFTER,
    *NO_ANSWERS,
    *MORE,
    *WHOLE_RESPONSES,
    *CORNERS,
    *NOT_READ,
]

REALISTIC = [
    ("Answer: 8", "8"),
    ("Answer: 8.", "8"),
    ("**Answer: 8**", "8"),
    ("**Answer:** 8", "8"),
    ("**Final Answer**\n\n8", "8"),
    ("## Answer\n8 Fox", "8"),
    ("## Answer\n8 Fox\n\nThat took 5 steps.", "8"),
    ("Answer: **8**", "8"),
    (r"$\boxed{8}$", "8"),
    (r"The final answer is $\boxed{8}$.", "8"),
    (r"\[\boxed{\text{8 Fox}}\]", "8"),
    ("<answer>8</answer>", "8"),
    ("Answer: 8 Fox", "8"),
    ("Answer: Hamilton Farm has 8 Fox.", "8"),
    ("Answer: Hamilton Farm's Fox = 8", "8"),
    ("Answer: = 8", "8"),
    ("Answer: 6 + 2 = 8", "8"),
    ("Answer: q = u + G = 6 + 2 = 8.", "8"),
    ("Answer: 8 (6 + 2)", "8"),
    ("Answer: 8 (since u = 6 and G = 2)", "8"),
    ("Answer: 8 = 6 + 2", "8"),
    ("Answer: 1,024", "1024"),
    (r"\boxed{1{,}024}", "1024"),
    ("Answer: 1,234,567 animals", "1234567"),
    ("Answer: 8.0", "8"),
    ("Answer: 08", "8"),
    ("Answer: +8", "8"),
    ("Answer: -3", "-3"),
    ("Answer: −3", "-3"),
    ("Answer: -0", "0"),
    ("Answer: 0", "0"),
    ("Answer: 8.5", "8.5"),
    ("Answer: 8\n\nI added 6 and 2 in 3 steps.", "8"),
    ("Answer: 8. There were 5 other animals.", "8"),
    ("Answer: 7. Wait, that's wrong. Answer: 8", "8"),
    ("Answer: 7\n\nAnswer: 8", "8"),
    ("The answer is 8.", "8"),
    ("The answer is 8, because 6 + 2 = 8 and South Zoo has 4.", "8"),
    ("So the answer would be 8 Fox.", "8"),
    ("8 is the answer.", "8"),
    ("To get the answer, we need 3 steps.\nHamilton Farm has 8 Fox.", "8"),
    ("South Zoo has 2 Fox.\nTherefore, Hamilton Farm has 8 Fox.", "8"),
    ("Define Hamilton Farm's Fox as q; u = v + d = 4 + 2 = 6; so q = u + G = 6 + 2 = 8.", "8"),
    ("Since South Zoo has 2 Fox and 4 Animal, Hamilton Farm has 8 Fox.", "8"),
    ("Answer: (8)", "8"),
    ("Answer: ８", "8"),
    ("<think>Answer: 7</think>Answer: 8", "8"),
    ("<think>Answer: 7", None),
    ("Answer: eight", None),
    ("Answer: unknown", None),
    ("Hamilton Farm has many Fox.", None),
    ("Answer:", None),
    ("Answer: 2nd", None),
    ("Answer: 3 × (2 + 1) = 9", "9"),
    ("Answer: (2 + 1) * 3 = 9", "9"),
    ("Answer: 2 + (3 * 2) = 8", "8"),
    ("Answer: 16 × (6 + 66 + 13) = 16 × 85 = 1360", "1360"),
    ("The answer is 16 × (6 + 66 + 13) = 1,360.", "1360"),
    ("Answer: ((4 + 2) + 2) = 8", "8"),
    ("Answer: (4) + (2) + (2) = 8", "8"),
    ("Answer: 8 (-2 + 10)", "8"),
    ("Answer: $2 \\times (3 + 1) = 8$", "8"),
    ("Answer: $2 \\cdot \\left(3 + 1\\right) = 8$", "8"),
    ("Hamilton Farm has **8** Fox.\n\nAnswer: 8", "8"),
    ("Answer: \\(8\\)", "8"),
    ("$$\\boxed{1,024 \\text{ Fox}}$$", "1024"),
    (
        "The number of Fox at Hamilton Farm is 8.\n\n**Answer: 8**\n\n*Note: South Zoo's "
        "Animal = 4.*",
        "8",
    ),
    ("Answer: The answer is 8.", "8"),
    ("Question: How many Fox does Hamilton Farm have?\n\nAnswer: 8", "8"),
    (
        "So Hamilton Farm has 8 Fox\n\nAnswer: 8 \n\nLet me know if you need anything else "
        "on the 3 places!",
        "8",
    ),
    ("```\nAnswer: 8\n```", "8"),
    ("Answer: 8\u200b", "8"),
    ("Answer: 2 * 4 = 8", "8"),
    ("Answer: 16 / 2 = 8", "8"),
    ("The final answer is 8 + 0 = 8", "8"),
    ("Answer: [8]", "8"),
    ("Answer: 8 is the number of Fox.", "8"),
    ("Answer: 4 + 2 + 2 gives 8", "8"),
    ("My answer is: 8", "8"),
    ("Answer: $1{,}024$ Fox", "1024"),
    ("Answer: The number of each Hamilton Farm's Fox is 8.", "8"),
    ("Therefore, Hamilton Farm has 8 Fox.\n\nAnswer: 8\n\n", "8"),
    ("Answer: **8** Fox ✅", "8"),
    ("Answer - 8", "8"),
    ("Answer: \n8", "8"),
    ("So the final answer is:\n\n**8**", "8"),
    ("Answer: eight (8)", "8"),
    ("Answer: 11 × 6 = 66", "66"),
    ("Answer: 16 · 85 = 1360", "1360"),
    ("Thus, the number of Fox at Hamilton Farm is 4 + 2 + 2 = 8.", "8"),
    ("<answer> 8 </answer>", "8"),
    ("ANSWER: **`8`**", "8"),
    ("Answer: 8\nConfidence: 95", "8"),
    ("The answer comes out to 8.", "8"),
    (r"\boxed{8} in 3 steps", "8"),
    (r"\fbox{8} in 3 steps", "8"),
    ("<answer>8</answer> in 3 steps", "8"),
    ("Answer: 6 plus 2 is 8", "8"),
    ("Answer: 10 minus 2 is 8", "8"),
    ("Answer: 4 times 2 is 8", "8"),
    ("The answers are 8 and 3.", "8"),
    ("The answer equals 8, in 3 steps.", "8"),
    ("So the answer would be 8, in 3 steps.", "8"),
    # not read
    ("Answer: 12 345", "12"),
    ("Answer: 3(2 + 1) = 9", "3"),
    ("Answer: 3 Fox + 5 Fox = 8 Fox", "3"),
    ("Answer: 2 more than 6 is 8", "2"),
]


def variables(reading):
    return None if reading is None else set(reading.split(", ")) - {"none"}


@pytest.mark.parametrize(("response", "reading"), SYMBOLIC)
def test_variables_read(response, reading):
    assert read_variables(response, 2) == variables(reading)


@pytest.mark.parametrize(
    ("sentence", "word", "reading"),
    [(sentence, word, reading) for sentence, reading, words in WORDS for word in words.split()],
)
def test_every_word_counts(sentence, word, reading):
    assert read_variables(sentence.format(word.replace("_", " ")), 2) == variables(reading)
    assert read_variables(sentence.format("zebra"), 2) != variables(reading)


@pytest.mark.parametrize(("target", "response", "reading"), OTHER_TARGETS)
def test_variables_of_another_target_read(target, response, reading):
    assert read_variables(response, target) == variables(reading)


@pytest.mark.parametrize(("response", "reading"), REALISTIC)
def test_number_read(response, reading):
    assert read_number(response) == reading


# --- outcomes -------------------------------------------------------------------------------------

SYMBOLIC_OUTCOMES = [
    # gold, response, outcome, missing, extra
    ("v3", "v3 is equal to 2.", "correct", "", ""),
    ("v3", "v7 is equal to 2.", "wrong_set", "v3", "v7"),
    ("v3", "The variables equal to 2 are v3 and v7.", "wrong_set", "", "v7"),
    ("v3, v7", "The variable equal to 2 is v7.", "wrong_set", "v3", ""),
    ("v3, v7, v12", "Answer: v12, v9, v10, v1", "wrong_set", "v3 v7", "v1 v9 v10"),
    ("none", "None of the variables is equal to 2.", "correct", "", ""),
    ("none", "v3 is equal to 2.", "wrong_set", "", "v3"),
    ("v3, v7", "No variable is equal to 2.", "wrong_set", "v3 v7", ""),
    ("none", "The target can't be found.", "no_answer", "", ""),
    ("v3", "v2 = 1", "no_answer", "", ""),
    ("v3", "", "max_context", "", ""),
    ("v3", " \n\t", "max_context", "", ""),
]
REALISTIC_OUTCOMES = [
    ("8", "Answer: 8.", "correct", "", ""),
    ("8", "Answer: 9.", "wrong_set", "8", "9"),
    ("8", "Answer: 8.5", "wrong_set", "8", "8.5"),
    ("-3", "Answer: 3", "wrong_set", "-3", "3"),
    ("8", "Answer: eight", "no_answer", "", ""),
    ("8", "", "max_context", "", ""),
]


@pytest.mark.parametrize(("gold", "response", "outcome", "missing", "extra"), SYMBOLIC_OUTCOMES)
def test_symbolic_outcome(gold, response, outcome, missing, extra):
    score = score_factor(response, suite="symbolic", answer=gold, target=2)
    assert score == (outcome, tuple(missing.split()), tuple(extra.split()))


@pytest.mark.parametrize(("gold", "response", "outcome", "missing", "extra"), REALISTIC_OUTCOMES)
def test_realistic_outcome(gold, response, outcome, missing, extra):
    score = score_factor(response, suite="realistic", answer=gold)
    assert score == (outcome, tuple(missing.split()), tuple(extra.split()))


@pytest.mark.parametrize(
    ("prompt", "response", "budget", "over"),
    [
        (100, 100, 220, True),
        (100, 100, 221, False),
        (None, 200, 220, True),
        (200, None, 220, True),
        (100, 100, None, False),
        (10**6, 10**6, None, False),
        (None, None, 20, True),
    ],
)
def test_context_budget(prompt, response, budget, over):
    counts = {"prompt_tokens": prompt, "response_tokens": response, "context_budget": budget}
    score = score_factor("Answer: 8", suite="realistic", answer="8", **counts)
    assert score.outcome == ("max_context" if over else "correct")


def test_metrics():
    score = FactorScore(FactorOutcome.WRONG_SET, ("v3",), ("v7", "v12"))
    assert score_metrics(score) == {
        "acc": 0, "outcome": "wrong_set", "wrong_set": 1, "no_answer": 0, "max_context": 0,
        "missing": ["v3"], "extra": ["v7", "v12"],
    }  # fmt: skip
    assert score_metrics(FactorScore(FactorOutcome.CORRECT))["acc"] == 1
    assert [outcome for outcome in FactorOutcome if outcome.correct] == ["correct"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"suite": "real"}, "suite must be one of symbolic, realistic, got 'real'"),
        ({"suite": "symbolic"}, "target must be an integer in the symbolic suite, got None"),
        ({"suite": "symbolic", "target": "2"}, "target must be an integer .*, got '2'"),
    ],
)
def test_wrong_parameters(changes, message):
    with pytest.raises(ValueError, match=message):
        score_factor("v3", answer="v3", **changes)


# --- any set in any phrasing ----------------------------------------------------------------------

NAMES = ["v{}", "V{}", "v_{}", "$v_{{{}}}$", "**v{}**", "`v_{}`", r"\(v_{{{}}}\)", "v<sub>{}</sub>"]
JOINS = [", {}", " and {}", ", and {}", " & {}"]
PHRASES = [
    "The variable(s) equal to {target} are {names}.",
    "Therefore, {names} are equal to {target}.",
    "{names} are the only variables that equal {target}",
    "So only {names} have the value {target}, the others don't.",
    "**Final Answer:** {names}",
    "The final answer is\n\n{names}.",
    "The answer is \\boxed{{{names}}}.",
    "Answer: {names}\n\nI hope this helps!",
    "The variables equal to {target} are {names}, and v9876 is {other}.",
    "The variables equal to {target} are:\n{bullets}",
    "The variables equal to {target} are:\n\n{equations}",
    "The answer is {names}.\n\nCheck: v1 = {other}, v2 = v1 = {other}.",
]
EMPTY_PHRASES = [
    "No variable is equal to {target}.",
    "Answer: none",
    "None of the variables has the value {target}; v1 is {other}.",
    "Therefore, there are no variables equal to {target}.",
]
VARIABLES = st.sets(st.integers(0, 60), max_size=8).map(lambda ids: [f"v{i}" for i in ids])
REASONING = [
    "v5 is equal to 2.",
    "Therefore, v1 = v2 = 3.",
    "The variable v7 equals 4.",
    "None of the variables is known yet.",
    "- v1 = 2",
    "Answer: v8",
    "| v1 | 2 |",
    r"$\boxed{v_9}$",
    "Wait (no",
    "",
]


def phrase(draw, names, target):
    """A response that concludes with some variables, in some order."""
    other = draw(st.integers(-2, 12).filter(lambda value: value != target))
    if not names:
        return draw(st.sampled_from(EMPTY_PHRASES)).format(target=target, other=other)
    form = draw(st.sampled_from(NAMES))
    written = [form.format(name[1:]) for name in draw(st.permutations(names))]
    joined = written[0]
    for i, name in enumerate(written[1:], 2):
        joined += draw(st.sampled_from(JOINS if i == len(written) else JOINS[:1])).format(name)
    return draw(st.sampled_from(PHRASES)).format(
        target=target,
        other=other,
        names=joined,
        bullets="\n".join(f"- {name}" for name in written),
        equations="\n".join(f"* {name} = v99 + 1 = {target}" for name in written),
    )


@given(VARIABLES, st.integers(-2, 12), st.data())
def test_any_set_in_any_phrasing_is_read_back(names, target, data):
    assert read_variables(phrase(data.draw, names, target), target) == set(names)


@given(VARIABLES, VARIABLES, st.data())
def test_what_is_missing_and_what_is_extra(gold, names, data):
    response = phrase(data.draw, names, 2)
    answer = ", ".join(in_order(set(gold))) or "none"
    score = score_factor(response, suite="symbolic", answer=answer, target=2)
    assert score.outcome.correct == (set(gold) == set(names))
    assert score.missing == tuple(f"v{i}" for i in range(61) if f"v{i}" in {*gold} - {*names})
    assert score.extra == tuple(f"v{i}" for i in range(61) if f"v{i}" in {*names} - {*gold})


@given(
    VARIABLES,
    st.one_of(st.text(), st.lists(st.sampled_from(REASONING)).map("\n".join)),
    st.data(),
)
def test_reasoning_before_it_does_not_matter(names, reasoning, data):
    response = phrase(data.draw, names, 2)
    assert read_variables(f"{reasoning}\n\nDone.\n\n{response}", 2) == set(names)
    thought = f"<think>{reasoning}</think>\n\n{response}"
    assert read_variables(thought, 2) == set(names)


@given(st.integers(), st.text(), st.sampled_from([1, 2, 4, 7, 13, 18, 21, 32, 45]))
def test_any_number_in_many_phrasings_is_read_back(number, reasoning, row):
    response = REALISTIC[row][0].replace("8", str(number))
    assume(str(number) in response)
    assert read_number(f"{reasoning}\n\nDone.\n\n{response}") == str(number)


# --- any text -------------------------------------------------------------------------------------

ANY_TEXT = st.text(st.characters(exclude_categories=[]))  # lone surrogates and controls as well
PIECES = ["v3", "v_", "2", " is ", " = ", ", ", "and", "none", "other", "(", ")", ".", ":", "\n",
          "- ", "| ", "answer", "\\boxed{", "{}", "only", "not", "<think>", "</think>", "**", "≠",
          "variables", "check", "-1", "1,024"]  # fmt: skip
RESPONSES = st.one_of(ANY_TEXT, st.lists(st.sampled_from(PIECES)).map("".join))


@given(RESPONSES, st.integers(-3, 12))
def test_any_text_has_an_outcome(response, target):
    score = score_factor(response, suite="symbolic", answer="v3", target=target)
    assert isinstance(score.outcome, FactorOutcome)
    assert (score.missing or score.extra) if score.outcome == "wrong_set" else score[1:] == ((), ())
    assert isinstance(score_factor(response, suite="realistic", answer="8").outcome, FactorOutcome)


@pytest.mark.parametrize(
    "unit",
    ["v3 (", "{ ", "\\a", "v 3, ", "= 2 : ", "1,", "no a ", "- v3:\n", "v__", "1 + "],
)
def test_much_text(unit):
    read_variables(unit * (100_000 // len(unit)), 2)
    read_number(unit * (100_000 // len(unit)))


@pytest.mark.parametrize("unit", ["v3 = 2\n", "v3 is equal to 2. ", "= 2 : ", "(v3 (v4), ", "a:\n"])
def test_work_grows_linearly(unit):
    def calls(repeated: int) -> int:
        count = 0

        def counted(*_) -> None:
            nonlocal count
            count += 1

        sys.setprofile(counted)
        try:
            read_variables(unit * repeated, 2)
            read_number(unit * repeated)
        finally:
            sys.setprofile(None)
        return count

    assert calls(2000) < 2.1 * calls(1000)
