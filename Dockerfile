# The Mesocosm server and command line in one image; what evaluates models besides in a second, which is larger; and the
# code runner, for code of agents, in a third.
FROM python:3.11-slim AS build
COPY . /source
# The tests of libraries are a fifth of their size.
RUN pip install --no-cache-dir --prefix=/install /source \
    && find /install/lib -type d -name tests -prune -exec rm -r {} +
# What is installed besides finds there what it needs and already has.
ENV PYTHONPATH=/install/lib/python3.11/site-packages
RUN python -c "import tomllib; extras = tomllib.load(open('/source/pyproject.toml', 'rb'))['project']['optional-dependencies']; \
[open(f'/{name}.txt', 'w').write('\n'.join(extras[name])) for name in ('code', 'eval', 'mail', 'metrics', 'plots', 'sheets', 'warehouses')]"

# Mail over IMAP and SMTP, and what computes for warehouses and sheets. Arrow is used in memory only: what it has for networks and
# clouds goes.
FROM build AS build-servers
RUN pip install --no-cache-dir --prefix=/install -r /mail.txt -r /metrics.txt -r /sheets.txt -r /warehouses.txt \
    && cd /install/lib/python3.11/site-packages \
    && rm -rf pyarrow/include pyarrow/libarrow_flight.so* pyarrow/libarrow_s3.so* pyarrow/_flight*.so pyarrow/*.pxi \
    && find . -type d -name tests -prune -exec rm -r {} +

# inspect_ai brings programs for containers of its own, botocore the descriptions of all of a vendor's services, and a
# debugger comes along; nothing of these is used here.
FROM build-servers AS build-evaluation
RUN pip install --no-cache-dir --prefix=/install -r /eval.txt -r /plots.txt \
    && cd /install/lib/python3.11/site-packages \
    && rm -rf inspect_ai/binaries debugpy zstandard/_cffi*.so \
    && find botocore/data -mindepth 1 -maxdepth 1 -type d ! -name 's3*' ! -name 'sts' ! -name 'sso*' ! -name 'bedrock*' \
        -exec rm -r {} + \
    && find . -type d -name tests -prune -exec rm -r {} +

# What runs code needs none of what draws, reads and serves.
FROM build AS build-runner
RUN pip install --no-cache-dir --prefix=/install -r /code.txt \
    && cd /install/lib/python3.11/site-packages \
    && rm -rf PIL pillow.libs cryptography dulwich faker jsonschema lemminflect lxml mcp pypdf rustworkx sqlalchemy \
        tiktoken \
    && find . -type d -name tests -prune -exec rm -r {} + \
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
