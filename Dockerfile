# Everything at scale quick, without a network: docker run IMAGE. The basic test: docker run IMAGE make kick.
# The base is a name, not a digest: Debian updates it, and the lock pins all that computes a number.
FROM debian:bookworm-slim

RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates make python3 python3-venv \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /cutlayer
COPY . .

# As pip's own setting: the index of PyTorch's CPU builds spares 4 GB where there is no GPU.
ARG PIP_EXTRA_INDEX_URL
RUN PIP_NO_CACHE_DIR=1 make setup

CMD ["make", "results"]
