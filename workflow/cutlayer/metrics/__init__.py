from .calibration import adaptive_calibration_error as adaptive_calibration_error
from .leakage import chance_floor as chance_floor
from .leakage import leak_auc as leak_auc
