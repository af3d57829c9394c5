"""health: what a year of insurance claims says of a patient, and whether the Charlson index is above zero.

The table has the claims of each member and year, summed up as the prize's competitors did it in SQL. As in the code of
Song et al.: year Y3, the summaries of the Charlson index are no features, each column becomes "above its median", and
a column that is so for 5% of the members or fewer goes. Here it is cleared, not cut out, so that the columns do not
depend on the file: what is zero for all says nothing to a model. Age and sex are attributes and no features. Members
without one of them, whom the recipe leaves out, are not in the table.

Heritage Health Prize, release 3; Song, Kalluri, Grover, Zhao, Ermon, "Learning Controllable Fair Representations".
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from .base import Dataset, Schema, Table

TABLE, YEAR, LABEL = "health.csv.zip", "Y3", "Charlson>0"
RARE = 0.05
KEPT = 71  # columns that are above their median more often than that
AGES = ("age_05", "age_15", "age_25", "age_35", "age_45", "age_55", "age_65", "age_75", "age_85")
SEXES = ("sexFEMALE", "sexMALE")
INDEX = "CharlsonIndexI_max"
FEATURES = (  # of the table, in the order of the schema
    "ClaimsTruncated", "no_Claims", "no_Providers", "no_Vendors", "no_PCPs", "no_PlaceSvcs", "no_Specialities",
    "no_PrimaryConditionGroups", "no_ProcedureGroups", "PayDelay_max", "PayDelay_min", "PayDelay_ave",
    "PayDelay_stdev", "LOS_max", "LOS_min", "LOS_ave", "LOS_stdev", "LOS_TOT_UNKNOWN", "LOS_TOT_SUPRESSED",
    "LOS_TOT_KNOWN", "dsfs_max", "dsfs_min", "dsfs_range", "dsfs_ave", "dsfs_stdev",
    *(f"pcg{i}" for i in range(1, 47)), *(f"sp{i}" for i in range(1, 14)), *(f"pg{i}" for i in range(1, 19)),
    *(f"ps{i}" for i in range(1, 10)),
    "drugCount_max", "drugCount_min", "drugCount_ave", "drugcount_months", "labCount_max", "labCount_min",
    "labCount_ave", "labcount_months", "labNull", "drugNull",
)  # fmt: skip


class Health(Dataset):
    """55,924 patients, 121 binary features; the index of 33.7% is above zero."""

    rows = 55_924
    columns = 121
    classes = 2
    class_names = ("zero", "above zero")
    class_rates = (0.6631, 0.3369)
    # Categories by the numbers that the competitors' SQL gives them.
    schema: ClassVar[Schema] = {
        "truncated": 2, "claims": 2, "providers": 2, "vendors": 2, "PCPs": 2, "places": 2, "specialties": 2,
        "conditions": 2, "procedures": 2,
        "delay max": 2, "delay min": 2, "delay mean": 2, "delay deviation": 2,
        "stay max": 2, "stay min": 2, "stay mean": 2, "stay deviation": 2,
        "stays unknown": 2, "stays suppressed": 2, "stays known": 2,
        "month max": 2, "month min": 2, "month range": 2, "month mean": 2, "month deviation": 2,
        "condition MSC2a3": 2, "condition METAB3": 2, "condition ARTHSPIN": 2, "condition NEUMENT": 2,
        "condition RESPR4": 2, "condition MISCHRT": 2, "condition SKNAUT": 2, "condition GIBLEED": 2,
        "condition INFEC4": 2, "condition TRAUMA": 2, "condition HEART2": 2, "condition RENAL3": 2,
        "condition ROAMI": 2, "condition MISCL5": 2, "condition ODaBNCA": 2, "condition UTI": 2, "condition COPD": 2,
        "condition GYNEC1": 2, "condition CANCRB": 2, "condition FXDISLC": 2, "condition AMI": 2,
        "condition PRGNCY": 2, "condition HEMTOL": 2, "condition HEART4": 2, "condition SEIZURE": 2,
        "condition APPCHOL": 2, "condition CHF": 2, "condition GYNECA": 2, "condition ?": 2, "condition PNEUM": 2,
        "condition RENAL2": 2, "condition GIOBSENT": 2, "condition STROKE": 2, "condition CANCRA": 2,
        "condition FLaELEC": 2, "condition MISCL1": 2, "condition HIPFX": 2, "condition METAB1": 2,
        "condition PERVALV": 2, "condition LIVERDZ": 2, "condition CATAST": 2, "condition CANCRM": 2,
        "condition PERINTL": 2, "condition PNCRDZ": 2, "condition RENAL1": 2, "condition SEPSIS": 2,
        "specialty Internal": 2, "specialty Laboratory": 2, "specialty General Practice": 2, "specialty Surgery": 2,
        "specialty Diagnostic Imaging": 2, "specialty Emergency": 2, "specialty Other": 2, "specialty Pediatrics": 2,
        "specialty Rehabilitation": 2, "specialty Obstetrics and Gynecology": 2, "specialty Anesthesiology": 2,
        "specialty Pathology": 2, "specialty ?": 2,
        "procedure EM": 2, "procedure PL": 2, "procedure MED": 2, "procedure SCS": 2, "procedure RAD": 2,
        "procedure SDS": 2, "procedure SIS": 2, "procedure SMS": 2, "procedure ANES": 2, "procedure SGS": 2,
        "procedure SEOA": 2, "procedure SRS": 2, "procedure SNS": 2, "procedure SAS": 2, "procedure SUS": 2,
        "procedure ?": 2, "procedure SMCD": 2, "procedure SO": 2,
        "place Office": 2, "place Independent Lab": 2, "place Urgent Care": 2, "place Outpatient Hospital": 2,
        "place Inpatient Hospital": 2, "place Ambulance": 2, "place Other": 2, "place Home": 2, "place ?": 2,
        "drugs max": 2, "drugs min": 2, "drugs mean": 2, "drugs months": 2,
        "labs max": 2, "labs min": 2, "labs mean": 2, "labs months": 2, "labs absent": 2, "drugs absent": 2,
    }  # fmt: skip
    attributes: ClassVar[Mapping[str, int]] = {"age": 9, "gender": 2}
    versions: ClassVar[Mapping[str, Mapping[str, Any]]] = {"stand-in": {"rows": 20_000}}

    def load(self, files: Mapping[str, Path]) -> Table:
        """Read the table of members and years."""
        wanted = ("YEAR_t", LABEL, INDEX, *AGES, *SEXES, *FEATURES)
        every = pd.read_csv(files[TABLE], usecols=lambda name: name in wanted)
        members = every[every["YEAR_t"] == YEAR]
        features = binarized(members[list(FEATURES)].to_numpy(np.float64))
        if (kept := int(features.any(axis=0).sum())) != KEPT:
            raise self.error(f"has {kept} columns that are not rare", f"expected {KEPT}")
        labels = members[LABEL].to_numpy()
        if (labels != (members[INDEX] > 0)).any():
            raise self.error(f"has a {LABEL} that is not whether {INDEX} is above zero")
        attributes = {"age": self._one_of(members, AGES), "gender": self._one_of(members, SEXES)}
        return self.table(features, labels, attributes)

    def _one_of(self, members: pd.DataFrame, names: tuple[str, ...]) -> np.ndarray:
        """Which of some columns is 1 (n,); the others are 0."""
        marks = members[list(names)].to_numpy()
        if (marks.sum(axis=1) != 1).any() or not np.isin(marks, (0, 1)).all():
            raise self.error(f"has a member with none or several of {', '.join(names)}", "expected one of them")
        return marks.argmax(axis=1)


def binarized(values: np.ndarray) -> np.ndarray:
    """Whether each number (n, d) is above its column's median; never in a column where that is rare."""
    above = values > np.median(values, axis=0)
    return above & (above.mean(axis=0) > RARE)
