# The Mesocosm server and command line in one image; the code runner, for code of agents, in another.
FROM python:3.11-slim AS build
COPY . /source
RUN pip install --no-cache-dir --prefix=/install '/source[code]'

FROM python:3.11-slim AS installed
# The sandbox for agents' code (docs/decisions/020-sandbox.md).
RUN apt-get update \
    && apt-get install -y --no-install-recommends bubblewrap libseccomp2 util-linux \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /install /usr/local
ENV PYTHONUNBUFFERED=1
ENTRYPOINT ["mesocosm"]

# Nothing in it knows a task, so nothing in it could tell an answer. It starts as root of its container, without
# most of root's rights, to give each job a user of its own.
FROM installed AS code-runner
RUN cd "$(python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/mesocosm" \
    && rm -r checkers generators servers solvers tasks prose weaving
EXPOSE 8322
CMD ["code-runner", "--listen", "0.0.0.0:8322"]

FROM installed AS mesocosm
RUN useradd --create-home --uid 10001 mesocosm \
    && install -d -o mesocosm -g mesocosm -m 0700 /state /home/mesocosm/runs
USER mesocosm
WORKDIR /home/mesocosm
ENV MESOCOSM_STATE=/state
EXPOSE 8321
CMD ["serve", "--host", "0.0.0.0", "--port", "8321", "--allowed-host", "servers:8321"]
