import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ErrorBody } from '@svc/contract/error-body.ts';
import { parseJsonOrNull } from '@svc/contract/json-value.ts';
import type { UploadState, UploadedFile } from '@svc/contract/upload.ts';
import { backOffMs } from '@svc/service-kit/backoff.ts';
import { http } from '@svc/service-kit/builtin.ts';
import { maxAnswerBytes } from '@svc/service-kit/http/json-client.ts';
import { tokenHeaders } from '@svc/service-kit/http/own-tokens.ts';
import { BodyTooLarge, readBody } from '@svc/service-kit/http/read-body.ts';
import { inUnits } from '@svc/service-kit/words.ts';
import { CliError, unexpectedResponse } from '../cli-error.ts';

export type UploadAsk = { filename: string; mime: string; size: number };
type Request = { method: string; path: string; body?: Buffer; headers?: Record<string, string> };
type Answer = { status: number; body: unknown };

/** How long the core may be down before an upload stops; it can be resumed later. */
const patienceMs = 60_000;
const backOff = { firstMs: 200, maxMs: 5000 };
const answerTimeoutMs = 120_000;

/**
 * The core's upload routes. Temporary failures (a restart, a broken connection) are retried within a minute.
 * All return null when the core no longer knows the upload.
 */
export type UploadClient = {
  begin(what: UploadAsk): Promise<UploadState | null>;
  state(id: string): Promise<UploadState | null>;
  put(id: string, index: number, bytes: Buffer): Promise<{ received_count: number } | null>;
  finish(id: string): Promise<{ file: UploadedFile } | null>;
  /** Closes its connections. */
  close(): void;
};

export function createUploadClient(url: string, parallel: number): UploadClient {
  const agent = new http.Agent({ keepAlive: true, maxSockets: parallel });
  const ask = async <T>(request: Request): Promise<T | null> => {
    const { status, body } = await askUntilAnswered(url, () => once(url, agent, request));
    if (status === 404) return null;
    if (status < 300) return body as T; // the status says that it is one (contract of the core)
    throw refusal(body as Refusal | null, status);
  };
  const json = (value: unknown) => ({
    body: Buffer.from(JSON.stringify(value)),
    headers: { 'content-type': 'application/json' },
  });

  return {
    begin: (what) => ask<UploadState>({ method: 'POST', path: '/v2/upload/init', ...json(what) }),
    state: (id) => ask<UploadState>({ method: 'GET', path: `/v2/upload/${id}` }),
    put(id, index, bytes) {
      const headers = {
        'content-type': 'application/octet-stream',
        'x-chunk-sha256': createHash('sha256').update(bytes).digest('hex'),
      };
      return ask<{ received_count: number }>({ method: 'PUT', path: `/v2/upload/${id}/${index}`, body: bytes, headers });
    },
    finish: (id) => ask<{ file: UploadedFile }>({ method: 'POST', path: `/v2/upload/${id}/finish`, ...json({}) }),
    close: () => agent.destroy(),
  };
}

async function askUntilAnswered(url: string, once: () => Promise<Answer>): Promise<Answer> {
  const until = performance.now() + patienceMs;
  for (let failures = 1; ; failures++) {
    const delay = backOffMs(backOff, failures);
    try {
      const answer = await once();
      if (![429, 502, 503].includes(answer.status) || performance.now() + delay > until) return answer;
    } catch (error) {
      if (error instanceof BodyTooLarge) throw unexpectedResponse(url, error);
      if (performance.now() + delay > until) throw error;
    }
    await sleep(delay);
  }
}

function once(url: string, agent: InstanceType<typeof http.Agent>, { method, path, body, headers }: Request): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = http.request(new URL(path, url), {
      agent,
      method,
      timeout: answerTimeoutMs,
      headers: { ...tokenHeaders(url), ...headers, ...(body === undefined ? {} : { 'content-length': body.length }) },
    });
    request.on('timeout', () => request.destroy(new Error('the core has not responded for two minutes')));
    request.on('error', reject);
    request.on('response', (response) => {
      readBody(response, maxAnswerBytes).then(
        (bytes) => resolve({ status: response.statusCode ?? 0, body: parseJsonOrNull(bytes.toString('utf8')) }),
        reject,
      );
    });
    request.end(body);
  });
}

type Refusal = Partial<ErrorBody> & { limit?: unknown; variable?: unknown };

function refusal(body: Refusal | null, status: number): CliError {
  if (typeof body?.limit === 'number' && typeof body.variable === 'string')
    return new CliError('the file was not accepted: it is too large.', {
      why: `At most ${inUnits(body.limit)} are accepted. ${body.variable} sets that limit: raise it in .env, then start the service again.`,
    });
  return new CliError('the file was not accepted.', {
    why: body?.message ?? `The core answered ${status}.`,
    run: './svc doctor',
  });
}
