from cutlayer.metrics.calibration import adaptive_calibration_error as adaptive_calibration_error
from cutlayer.metrics.leakage import chance_floor as chance_floor
from cutlayer.metrics.leakage import leak_auc as leak_auc
