# The Mesocosm server and command line in one image.
FROM python:3.11-slim AS build
COPY . /source
RUN pip install --no-cache-dir --prefix=/install '/source[code]'

FROM python:3.11-slim
# The sandbox for agents' code; it also needs a container that may make user namespaces (docs/decisions/020).
RUN apt-get update \
    && apt-get install -y --no-install-recommends bubblewrap libseccomp2 util-linux \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /install /usr/local
RUN useradd --create-home --uid 10001 mesocosm \
    && install -d -o mesocosm -g mesocosm -m 0700 /state /home/mesocosm/runs
USER mesocosm
WORKDIR /home/mesocosm
ENV MESOCOSM_STATE=/state PYTHONUNBUFFERED=1
EXPOSE 8321
ENTRYPOINT ["mesocosm"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8321", "--allowed-host", "servers:8321"]
