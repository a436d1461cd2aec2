import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import type { SendRequest } from '@svc/contract/send.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import type { Redactor } from '@svc/service-kit/redaction/redactor.ts';
import { badRequest, forbidden, unavailable } from '@svc/service-kit/service-error.ts';
import { findUpload, type UploadFile } from '@svc/service-kit/upload-file.ts';
import type { Route } from '../../delivery/delivery-store.ts';
import type { ToolDeps } from './tool.ts';

type Answer = { delivered?: boolean; message?: string };

const timeoutMs = 20_000;
/** Larger files are images and sound, and a search in them would take too long. */
const maxCheckedBytes = 64 * 1024 * 1024;

/** Sends a file of the upload area, with one attempt: the result says whether it succeeded. */
export async function sendFile(
  deps: ToolDeps,
  route: Route,
  file: string,
  { caption, kind }: Pick<SendRequest, 'caption' | 'kind'>,
): Promise<object> {
  const { settings, ids, knownSecrets } = deps;
  const checked = checkFile(deps, file);
  const redactor = knownSecrets.redactor();
  if (await pathHoldsSecret(checked, redactor)) throw forbidden('The file contains a secret of this service.');
  const body: SendRequest = {
    ...route,
    path: checked.path,
    ...(kind !== undefined && { kind }),
    ...(caption !== undefined && { caption: redactor.text(caption) }),
  };
  const { status, body: answer } = await requestJson<Answer>(`http://${settings.bindHost}:${settings.managerPort}/send`, {
    token: settings.managerToken,
    headers: { 'idempotency-key': ids.next('snd') },
    body,
    timeoutMs,
  }).catch((error: unknown) => {
    throw unavailable('The manager, which sends messages, is unavailable. Nothing was sent; try again later.', error);
  });
  if (status < 300 && answer.delivered !== false) return { delivered: true, ...route };
  return {
    delivered: false,
    ...route,
    why: `${answer.message ?? 'no reason given'} (${status})`,
    note: 'It is not tried again.',
  };
}

/**
 * Accepts only finished uploads: keys and databases of the service are elsewhere. A conversation's copy of a file is sent as its upload.
 */
function checkFile({ paths, conversationFiles }: ToolDeps, file: string): UploadFile {
  const found = findUpload(paths.uploads, conversationFiles.uploadOf(file));
  if (found === 'not_a_file') throw badRequest('A folder cannot be sent.');
  if (typeof found === 'string') throw forbidden('Only files of the upload area can be sent. svc_uploads lists them.');
  return found;
}

async function pathHoldsSecret({ path: file, bytes }: UploadFile, redactor: Redactor): Promise<boolean> {
  if (bytes > maxCheckedBytes) return false;
  const handle = await open(file);
  try {
    return await holdsSecret(handle, redactor);
  } finally {
    await handle.close();
  }
}

/** Whether masking would change the content. Reads piece by piece, so that nothing else is blocked. */
export async function holdsSecret(handle: FileHandle, redactor: Redactor): Promise<boolean> {
  const masked = redactor.stream();
  const [before, after] = [createHash('sha256'), createHash('sha256')];
  const pieces = handle.createReadStream({ encoding: 'utf8', start: 0, autoClose: false }) as AsyncIterable<string>;
  for await (const piece of pieces) {
    before.update(piece);
    after.update(masked.push(piece));
  }
  after.update(masked.end());
  return before.digest('hex') !== after.digest('hex');
}
