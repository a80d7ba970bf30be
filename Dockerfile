# The Mesocosm server and command line in one image.
FROM python:3.11-slim AS build
COPY . /source
RUN pip install --no-cache-dir --prefix=/install /source

FROM python:3.11-slim
COPY --from=build /install /usr/local
RUN useradd --create-home --uid 10001 mesocosm \
    && install -d -o mesocosm -g mesocosm -m 0700 /state /home/mesocosm/runs
USER mesocosm
WORKDIR /home/mesocosm
ENV MESOCOSM_STATE=/state PYTHONUNBUFFERED=1
EXPOSE 8321
ENTRYPOINT ["mesocosm"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8321", "--allowed-host", "servers:8321"]
