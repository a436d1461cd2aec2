import type { ErrorBody } from '@svc/contract/error-body.ts';
import { requestJson, type JsonRequest } from '../http/json-client.ts';
import type { Secret } from '../secret.ts';

/** What the vault said: what was asked for, a refusal with its code, or nothing that can be understood. */
export type VaultReply<T> =
  | { is: 'ok'; body: T }
  | { is: 'refused'; status: number; error: ErrorBody }
  | { is: 'unreachable'; why: string };

export type VaultKeys = { agentKey?: Secret | null; adminKey?: Secret | null };
export type VaultRequest = Pick<JsonRequest, 'method' | 'body' | 'timeoutMs'> & VaultKeys;

/** A credential is 64 KiB at most; a list of them is longer. */
const maxBytes = 4 * 1024 * 1024;

/** One question to the vault. Never rejects: that it is away is something to reckon with. */
export async function callVault<T>(
  url: string,
  { agentKey = null, adminKey = null, ...request }: VaultRequest,
): Promise<VaultReply<T>> {
  const headers: Record<string, string> = adminKey === null ? {} : { 'x-admin-key': adminKey.reveal() };
  try {
    const { status, body } = await requestJson<unknown>(url, { ...request, token: agentKey, headers, maxBytes });
    // The casts: the status says which of the two it is (routes of the vault).
    if (status === 200) return { is: 'ok', body: body as T };
    return isErrorBody(body) ? { is: 'refused', status, error: body } : { is: 'unreachable', why: `it answers ${status}` };
  } catch (error) {
    const { code, name } = error as NodeJS.ErrnoException;
    const why =
      name === 'TimeoutError' || name === 'AbortError' ? `no answer within ${request.timeoutMs / 1000} s` : (code ?? name);
    return { is: 'unreachable', why };
  }
}

/** Anything may listen on that port; a refusal counts only in our words. */
const isErrorBody = (body: unknown): body is ErrorBody =>
  typeof body === 'object' &&
  body !== null &&
  'ok' in body &&
  body.ok === false &&
  'error' in body &&
  typeof body.error === 'string';
