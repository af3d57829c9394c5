"""What is measured of guesses, models and trainings."""
