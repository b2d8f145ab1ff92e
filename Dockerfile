# Firstword in a container, on the CPU:
#   docker build --build-arg TORCH_INDEX=<PyTorch's CPU index> -t firstword .
#   docker run --rm -p 127.0.0.1:8000:8000 -v firstword:/home/firstword/.cache firstword
# Without TORCH_INDEX torch comes from PyPI, which is the CUDA build (several GB; run with --gpus all). The volume
# keeps what a server writes: rooms, and models that were fetched.

FROM node:20-bookworm-slim AS page
WORKDIR /firstword
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --no-audit --no-fund

# The Debian and the Python that the tests run on.
FROM python:3.11-slim-bookworm
WORKDIR /firstword
ARG TORCH_INDEX=
ENV PIP_NO_CACHE_DIR=1
RUN apt-get update && apt-get install -y --no-install-recommends make && rm -rf /var/lib/apt/lists/* \
  && useradd --create-home firstword
COPY Makefile pyproject.toml requirements-model.txt README.md package.json package-lock.json ./
COPY app app
COPY --from=page /firstword/node_modules node_modules
# The model is made ready here, in the cache of the user who will serve it, not at every start.
RUN touch node_modules/.stamp \
  && XDG_CACHE_HOME=/home/firstword/.cache make .venv/run.stamp TORCH_INDEX="$TORCH_INDEX" \
  && chown -R firstword /home/firstword
COPY static static
COPY templates templates
COPY docs docs
USER firstword
# In a container loopback is nobody's: it listens on all of the container's addresses, and `docker run -p`
# decides who reaches it.
ENV FIRSTWORD_HOST=0.0.0.0 FIRSTWORD_LOG=json
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=3s --start-period=120s \
  CMD [".venv/bin/python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/readyz', timeout=2)"]
# exec form: SIGTERM reaches the server, which drains.
CMD [".venv/bin/firstword", "serve"]
