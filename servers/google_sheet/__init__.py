"""The google_sheet service: spreadsheets and the drive they lie in."""
