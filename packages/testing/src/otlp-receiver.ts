import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { http, type IncomingMessage } from '@svc/service-kit/builtin.ts';

export type ReceivedSpan = {
  traceId: string;
  spanId: string;
  parentSpanId: string | undefined;
  name: string;
  kind: number;
  /** Epoch ms. */
  startAt: number;
  endAt: number;
  attributes: Record<string, unknown>;
  /** 2 is an error. */
  status: number;
};
export type ReceivedMetric = { name: string; kind: 'sum' | 'gauge'; value: number; attributes: Record<string, unknown> };

type Value = { stringValue?: string; intValue?: number | string; doubleValue?: number; boolValue?: boolean };
type Attribute = { key: string; value: Value };
type Point = { asDouble?: number; asInt?: number | string; attributes?: Attribute[] };
type Traces = { resourceSpans: { resource: { attributes: Attribute[] }; scopeSpans: { spans: WireSpan[] }[] }[] };
type WireSpan = Omit<ReceivedSpan, 'attributes' | 'status' | 'startAt' | 'endAt'> & {
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: Attribute[];
  status: { code?: number };
};
type WireMetric = { name: string; gauge?: { dataPoints: Point[] }; sum?: { dataPoints: Point[] } };
type Metrics = { resourceMetrics: { scopeMetrics: { metrics: WireMetric[] }[] }[] };

export type OtlpReceiver = {
  url: string;
  spans: ReceivedSpan[];
  metrics: ReceivedMetric[];
  resources: Record<string, unknown>[];
  /** All received data, as text. */
  bodies: string[];
  /** Sets the answers from now on; `isSilent`: none at all. */
  state: { status: number; isSilent: boolean };
  /** Cuts the unanswered connections, and answers again from now on. */
  wake(): void;
  close(): Promise<void>;
};

/** A small receiver of OTLP/JSON over HTTP, like an OpenTelemetry collector, which shows what it received. */
export async function openOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const metrics: ReceivedMetric[] = [];
  const resources: Record<string, unknown>[] = [];
  const bodies: string[] = [];
  const state = { status: 200, isSilent: false };

  const take = async (request: IncomingMessage): Promise<void> => {
    const body = await read(request);
    bodies.push(body);
    if (request.url === '/v1/traces') {
      const { resourceSpans } = JSON.parse(body) as Traces;
      resources.push(...resourceSpans.map(({ resource }) => plain(resource.attributes)));
      spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans.map(toSpan))));
    } else if (request.url === '/v1/metrics') {
      const { resourceMetrics } = JSON.parse(body) as Metrics;
      metrics.push(
        ...resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics.flatMap(toMetrics))),
      );
    }
  };
  const server = http.createServer((request, response) => {
    if (state.isSilent) return;
    if (state.status !== 200) {
      response.writeHead(state.status).end();
      return;
    }
    void take(request).then(() => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    metrics,
    resources,
    bodies,
    state,
    wake() {
      state.isSilent = false;
      server.closeAllConnections();
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function read(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}

const toSpan = ({ startTimeUnixNano, endTimeUnixNano, attributes, status, ...span }: WireSpan): ReceivedSpan => ({
  ...span,
  startAt: Number(BigInt(startTimeUnixNano) / 1_000_000n),
  endAt: Number(BigInt(endTimeUnixNano) / 1_000_000n),
  attributes: plain(attributes),
  status: status.code ?? 0,
});

const toMetrics = ({ name, gauge, sum }: WireMetric): ReceivedMetric[] =>
  (gauge ?? sum)?.dataPoints.map(({ asDouble, asInt, attributes = [] }) => ({
    name,
    kind: sum === undefined ? 'gauge' : 'sum',
    value: Number(asDouble ?? asInt),
    attributes: plain(attributes),
  })) ?? [];

const plain = (attributes: readonly Attribute[]): Record<string, unknown> =>
  Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value.stringValue ?? value.boolValue ?? value.doubleValue ?? (value.intValue === undefined ? null : Number(value.intValue)),
    ]),
  );
