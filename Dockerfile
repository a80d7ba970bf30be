# The Mesocosm server and command line in one image; the code runner, for code of agents, in another.
FROM python:3.11-slim AS build
COPY . /source
# The tests of libraries are a fifth of their size.
RUN pip install --no-cache-dir --prefix=/install '/source[code,eval]' \
    && find /install/lib -type d -name tests -prune -exec rm -r {} +

# What runs code needs none of what draws, reads and serves.
FROM build AS build-runner
RUN cd /install/lib/python3.11/site-packages \
    && rm -rf PIL anthropic inspect_ai openai pillow.libs contourpy dulwich faker fontTools kiwisolver lxml matplotlib pymap rustworkx tiktoken \
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

FROM installed AS mesocosm
COPY --from=build /install /usr/local
RUN useradd --create-home --uid 10001 mesocosm \
    && install -d -o mesocosm -g mesocosm -m 0700 /state /home/mesocosm/runs
USER mesocosm
WORKDIR /home/mesocosm
ENV MESOCOSM_STATE=/state
EXPOSE 8321
CMD ["serve", "--host", "0.0.0.0", "--port", "8321", "--allowed-host", "servers:8321"]
