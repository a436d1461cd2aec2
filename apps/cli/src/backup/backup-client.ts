import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Backup, RestorePlan } from '@svc/contract/backup.ts';
import type { ErrorBody } from '@svc/contract/error-body.ts';
import { http, type IncomingMessage } from '@svc/service-kit/builtin.ts';
import { maxAnswerBytes } from '@svc/service-kit/http/json-client.ts';
import { tokenHeaders } from '@svc/service-kit/http/own-tokens.ts';
import { BodyTooLarge, readBody } from '@svc/service-kit/http/read-body.ts';
import { CliError, commandIn, notRunning } from '../cli-error.ts';

type Progress = { sent: number; size: number; resumedAt: number };
type OnProgress = (progress: Progress) => void;

/** Checking a large backup takes long, and the core sends nothing in the meantime. */
const answerTimeoutMs = 60 * 60_000;

/** Downloads a finished backup to a file, which appears only when it is complete and its checksum matches. */
export async function getBackup(url: string, backup: Backup, file: string, onProgress: OnProgress): Promise<void> {
  const part = `${file}.part`;
  const response = await send(`${url}/v2/backups/${backup.id}`, 'GET', {}, null);
  if (response.statusCode !== 200) throw await refusal(response, 'the backup cannot be read.');
  const hash = createHash('sha256');
  try {
    const look = watch(backup.bytes ?? 0, onProgress, (bytes) => void hash.update(bytes));
    await pipeline(response, look, createWriteStream(part, { mode: 0o600, flush: true }));
    if (hash.digest('hex') !== backup.sha256) {
      throw new CliError('the backup arrived damaged.', { why: 'It does not match its sha256.', run: './svc backup list' });
    }
    await rename(part, file);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

/** Uploads a file to be checked and restored at the next start. @throws CliError with the reason when it is refused */
export async function importBackup(
  url: string,
  file: string,
  passphrase: string | null,
  onProgress: OnProgress,
): Promise<RestorePlan> {
  const { size } = await stat(file);
  const headers = {
    'content-type': 'application/gzip',
    'content-length': String(size),
    ...(passphrase === null ? {} : { 'x-backup-passphrase': Buffer.from(passphrase, 'utf8').toString('base64') }),
  };
  const body = createReadStream(file, { highWaterMark: 1024 * 1024 });
  const response = await send(`${url}/v2/backups/import`, 'POST', headers, { body, look: watch(size, onProgress) });
  if (response.statusCode !== 200) throw await refusal(response, 'the backup was not accepted.');
  const text = await readBody(response, maxAnswerBytes);
  return (JSON.parse(text.toString('utf8')) as { restore: RestorePlan }).restore;
}

type Body = { body: NodeJS.ReadableStream; look: Transform };

function send(url: string, method: string, headers: Record<string, string>, body: Body | null): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = http.request(url, { method, headers: { ...tokenHeaders(url), ...headers }, timeout: answerTimeoutMs });
    request.on('timeout', () => request.destroy(new Error('the core has not responded for an hour')));
    request.on('response', resolve);
    request.on('error', (error: NodeJS.ErrnoException) => reject(error.code === 'ECONNREFUSED' ? notRunning(error) : error));
    if (body === null) request.end();
    // A response before the upload has ended is the reason. A broken connection counts only without one.
    else pipeline(body.body, body.look, request).catch(reject);
  });
}

const watch = (size: number, onProgress: OnProgress, onBytes: (bytes: Buffer) => void = () => undefined) => {
  let sent = 0;
  return new Transform({
    transform(bytes: Buffer, _encoding, done) {
      onBytes(bytes);
      sent += bytes.length;
      onProgress({ sent, size, resumedAt: 0 });
      done(null, bytes);
    },
  });
};

async function refusal(response: IncomingMessage, what: string): Promise<CliError> {
  try {
    const { message } = JSON.parse((await readBody(response, maxAnswerBytes)).toString('utf8')) as ErrorBody;
    return new CliError(what, { why: message, run: commandIn(message) ?? './svc backup list' });
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof BodyTooLarge)) throw error;
    return new CliError(what, { why: `The core answered ${response.statusCode}.`, run: './svc doctor' });
  }
}
