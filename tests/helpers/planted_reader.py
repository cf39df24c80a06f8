"""A scripted reader model: it writes down the numbered lines of a response, and knows no puzzle."""

import json
import re

from planted_model import states_of

ASKED = re.compile(r"Now yours\..*?Person: (\w+)\..*?\nResponse:\n(.*)\nRecords:", re.DOTALL)


class Reader:
    """It answers what `cogniload score --reader` asks about responses of the planted model."""

    def calibrate(self):
        """It needs no calibration."""

    def respond(self, prompt, _key=None):
        """A reasoning that rejects records, and the records of the response in a prompt."""
        person, response = ASKED.search(prompt).groups()
        records = []
        for line in response.splitlines():
            number, _, said = line.rpartition(". ") if line[:1].isdigit() else ("", "", line)
            if person in line and (values := [" ".join(p[::-1]) for p in states_of(said or line)]):
                k = int(number.split(".")[0]) if number else "final"
                records.append({"k": k, "applies": None, "values": values, "quote": line[:80]})
        rejected = [{"k": 1, "quote": f"nothing {number}"} for number in range(99)]
        return f"Not {json.dumps(rejected)}.\n", f"Here it is:\n{json.dumps(records)}"
