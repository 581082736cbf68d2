"""Programs, a file for each family: functions without arguments that are run natively and in the machine."""
