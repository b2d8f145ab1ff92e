# Firstword in a container, on the CPU:
#   docker build --build-arg TORCH_INDEX=<PyTorch's CPU index> -t firstword .
#   docker run --rm -p 127.0.0.1:8000:8000 firstword
# Without TORCH_INDEX torch comes from PyPI, which is the CUDA build (several GB; run with --gpus all).

FROM node:20-slim AS page
WORKDIR /firstword
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --no-audit --no-fund

FROM python:3.12-slim
WORKDIR /firstword
ARG TORCH_INDEX=
RUN apt-get update && apt-get install -y --no-install-recommends make && rm -rf /var/lib/apt/lists/*
COPY Makefile pyproject.toml requirements-model.txt README.md package.json package-lock.json ./
COPY app app
COPY --from=page /firstword/node_modules node_modules
RUN touch node_modules/.stamp && make .venv/run.stamp TORCH_INDEX="$TORCH_INDEX"
COPY static static
COPY templates templates
RUN useradd --create-home firstword
USER firstword
# In a container loopback is nobody's: it listens on all of the container's addresses, and `docker run -p`
# decides who reaches it.
ENV FIRSTWORD_HOST=0.0.0.0 FIRSTWORD_LOG=json
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=3s --start-period=120s \
  CMD [".venv/bin/python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/readyz', timeout=2)"]
# exec form: SIGTERM reaches the server, which drains.
CMD [".venv/bin/firstword", "serve"]
