# The command `tablewright`, with what requirements.lock names. `docker compose up` builds it: docs/operations.md.
FROM python:3.11-slim

COPY requirements.lock pyproject.toml README.md LICENSE /src/
RUN pip install --no-cache-dir --require-hashes -r /src/requirements.lock
COPY src /src/src
RUN pip install --no-cache-dir --no-deps /src && rm -rf /src

# On PostgreSQL the home folder holds nothing but pulled models.
RUN useradd --create-home --uid 1000 tablewright && mkdir /data /files && chown tablewright /data /files
USER tablewright
ENV TABLEWRIGHT_HOME=/data
VOLUME /data
WORKDIR /files

ENTRYPOINT ["tablewright"]
CMD ["--help"]
