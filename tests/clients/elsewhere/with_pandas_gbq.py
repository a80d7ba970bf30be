"""pandas-gbq against the BigQuery of BIGQUERY_EMULATOR_HOST, whose token is the argument."""

import sys

import pandas as pd
import pandas_gbq
from google.oauth2.credentials import Credentials

options = {"project_id": "local-project", "credentials": Credentials(token=sys.argv[1])}
frame = pd.DataFrame({"id": [1, 2], "name": ["a", None], "x": [1.5, None]})
pandas_gbq.to_gbq(frame, "shop.frame", if_exists="replace", progress_bar=False, **options)
pandas_gbq.to_gbq(frame, "shop.frame", if_exists="append", progress_bar=False, **options)
pandas_gbq.to_gbq(frame, "shop.csv", api_method="load_csv", progress_bar=False, **options)
text = "SELECT name, SUM(x) AS s, COUNT(*) AS n FROM shop.frame GROUP BY name ORDER BY name"
read = pandas_gbq.read_gbq(text, progress_bar_type=None, use_bqstorage_api=False, **options)
assert list(read["n"]) == [2, 2]
assert read["s"][1] == 3.0
print("written and read")
