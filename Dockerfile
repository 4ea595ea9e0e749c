# syntax=docker/dockerfile:1

# The build needs nothing but Go; the result is one static binary.
FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=unknown
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=${VERSION}" \
    -o /out/ ./cmd/liaison ./cmd/liaison-bridge

# glibc, because the vendor's bridge is linked against it. tini reaps what the
# bridge leaves behind; setpriv (util-linux) gives up root after the volume,
# which platforms mount as root's, has been handed over.
FROM debian:bookworm-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates tini \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --uid 10001 --home-dir /data/home --shell /usr/sbin/nologin liaison
COPY --from=build /out/liaison /out/liaison-bridge /usr/local/bin/
COPY manifests/entrypoint /usr/local/bin/entrypoint
ENV LIAISON_ADDR=0.0.0.0:8080 \
    LIAISON_STATE_DIR=/data/liaison \
    LIAISON_LOG_FORMAT=json \
    HOME=/data/home \
    TMPDIR=/data/tmp
VOLUME /data
EXPOSE 8080
# Exec form, so that SIGTERM reaches the service.
ENTRYPOINT ["/usr/bin/tini", "--", "/usr/local/bin/entrypoint"]
CMD ["serve"]
