# The Mesocosm server and command line in one image (and in a smaller one, `--target light`, which has no warehouses: tasks
# that need them are refused and say so); what evaluates models besides in a second, which is larger; and the code runner,
# for code of agents, in a third.
#
# What is installed is said by deploy/locks, version by version with digests (.ci/lock writes them), and the tools that
# build by .ci/tools.txt, so that a build today is a build tomorrow; give the base image by its digest for that, too:
#
#   docker build --build-arg BASE=python:3.11-slim@sha256:... .
#
# Each image has a list of what is in it (CycloneDX) at /usr/local/share/mesocosm/sbom.json.
ARG BASE=python:3.11-slim
FROM ${BASE} AS build
ENV PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1 \
    SITE=/install/lib/python3.11/site-packages TOOLS=/tools/bin SOURCE_DATE_EPOCH=315532800
COPY .ci/tools.txt /tools.txt
RUN python -m venv /tools && $TOOLS/pip install -r /tools.txt
COPY deploy/locks /locks
COPY . /source
# `locked IMAGE` installs what an image needs and this program, and lists it. `rooted` makes all of an image in which
# servers run as a user of their own.
RUN useradd --uid 10001 mesocosm \
    && printf '%s\n' '#!/bin/sh' 'set -e' \
        'pip install --prefix=/install --require-hashes -r "/locks/$1.txt"' \
        'PYTHONPATH=$SITE pip install --prefix=/install --no-deps /source' \
        'mkdir -p /install/share/mesocosm' \
        '$TOOLS/cyclonedx-py requirements --output-reproducible -o /install/share/mesocosm/sbom.json "/locks/$1.txt"' \
        > $TOOLS/locked \
    && printf '%s\n' '#!/bin/sh' 'set -e' '/source/.ci/bare /install /image' \
        'install -d -o mesocosm -g mesocosm -m 0700 /image/state /image/home/mesocosm /image/home/mesocosm/runs' \
        > $TOOLS/rooted \
    && chmod +x $TOOLS/locked $TOOLS/rooted
ENV PATH=$PATH:/tools/bin

# Everything that a server may be asked for: mail, figures for Prometheus, warehouses, sheets, and stores such as S3.
# botocore brings the descriptions of all of a vendor's services; of rustworkx nothing is called that takes numpy.
FROM build AS build-servers
RUN locked servers \
    && find $SITE/botocore/data -mindepth 1 -maxdepth 1 -type d ! -name 's3*' ! -name 'sts' ! -name 'sso*' \
        -exec rm -r {} + \
    && rm -r $SITE/numpy $SITE/numpy.libs \
    && /source/.ci/lean $SITE "python -m mesocosm list tools" "python -c 'import s3fs; from pyarrow import parquet'" \
        "python -m mesocosm run canvas_arrange_exam --length 8k --agent reference --out /tmp/run" \
        "python -m mesocosm run payable_invoice_checker --length 8k --agent reference --out /tmp/snowflake" \
        "python -m mesocosm run ab_testing --length 8k --agent reference --out /tmp/bigquery" \
    && rooted

# The same without warehouses (Snowflake, BigQuery), which are a third of it.
FROM build AS build-light
RUN locked light \
    && find $SITE/botocore/data -mindepth 1 -maxdepth 1 -type d ! -name 's3*' ! -name 'sts' ! -name 'sso*' \
        -exec rm -r {} + \
    && rm -r $SITE/numpy $SITE/numpy.libs \
    && /source/.ci/lean $SITE "python -m mesocosm list tools" "python -c 'import s3fs'" \
        "python -m mesocosm run canvas_arrange_exam --length 8k --agent reference --out /tmp/run" \
    && rooted

# inspect_ai brings programs for containers of its own, botocore the descriptions of all of a vendor's services, and a
# debugger comes along; nothing of these is used here.
FROM build AS build-evaluation
RUN locked evaluation \
    && cd $SITE \
    && rm -rf inspect_ai/binaries debugpy zstandard/_cffi*.so \
    && find botocore/data -mindepth 1 -maxdepth 1 -type d ! -name 's3*' ! -name 'sts' ! -name 'sso*' ! -name 'bedrock*' \
        -exec rm -r {} + \
    && /source/.ci/lean $SITE "python -m mesocosm list tools" "python -m mesocosm eval --help" \
        "python -c 'import inspect_ai, matplotlib.pyplot'"

# What runs code needs none of what draws, reads and serves.
FROM build AS build-runner
RUN locked code-runner \
    && cd $SITE \
    && rm -rf PIL pillow.libs cryptography dulwich faker holidays jsonschema lxml mcp pypdf sqlalchemy \
        tiktoken tiktoken_ext \
    && /source/.ci/lean $SITE "python -c 'import mesocosm.sandbox.runner, openpyxl, pandas'" \
    && cd mesocosm \
    && rm -r checkers generators servers solvers tasks kits

FROM ${BASE} AS installed
ENV PYTHONUNBUFFERED=1
ENTRYPOINT ["mesocosm"]

# Nothing in it knows a task, so nothing in it could tell an answer. It starts as root of its container, without
# most of root's rights, to give each job a user of its own.
FROM installed AS code-runner
COPY --from=build-runner /install /usr/local
EXPOSE 8322
CMD ["code-runner", "--listen", "0.0.0.0:8322"]

FROM installed AS account
RUN useradd --create-home --uid 10001 mesocosm \
    && install -d -o mesocosm -g mesocosm -m 0700 /state /home/mesocosm/runs
WORKDIR /home/mesocosm

FROM account AS evaluation
COPY --from=build-evaluation /install /usr/local
USER mesocosm
CMD ["eval", "--help"]

# Servers have Python, libraries and a shell under them, and no package manager or other programs of a system.
FROM scratch AS serving
ENV PATH=/usr/local/bin:/usr/bin LANG=C.UTF-8 PYTHONUNBUFFERED=1 MESOCOSM_STATE=/state
USER mesocosm
EXPOSE 8321
ENTRYPOINT ["mesocosm"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8321", "--allowed-host", "servers:8321"]

FROM serving AS light
COPY --from=build-light /image /
WORKDIR /home/mesocosm

FROM serving AS mesocosm
COPY --from=build-servers /image /
WORKDIR /home/mesocosm
