import type { ErrorBody } from '@svc/contract/error-body.ts';
import { requestJson, type JsonRequest } from '../http/json-client.ts';
import type { Secret } from '../secret.ts';

/** The vault's reply: the result, a refusal with its code, or nothing intelligible. */
export type VaultReply<T> =
  | { is: 'ok'; body: T }
  | { is: 'refused'; status: number; error: ErrorBody }
  | { is: 'unreachable'; why: string };

export type VaultKeys = { agentKey?: Secret | null; adminKey?: Secret | null };
export type VaultRequest = Pick<JsonRequest, 'method' | 'body' | 'timeoutMs'> & VaultKeys;

/** A credential has 64 KiB at most; a list of their metadata may be longer. */
const maxBytes = 4 * 1024 * 1024;

/** Sends one request to the vault. Never rejects, because an unreachable vault is an ordinary case. */
export async function callVault<T>(
  url: string,
  { agentKey = null, adminKey = null, ...request }: VaultRequest,
): Promise<VaultReply<T>> {
  const headers: Record<string, string> = adminKey === null ? {} : { 'x-admin-key': adminKey.reveal() };
  try {
    const { status, body } = await requestJson<unknown>(url, { ...request, token: agentKey, headers, maxBytes });
    // The casts are safe: the status decides which of the two the vault's routes return.
    if (status === 200) return { is: 'ok', body: body as T };
    return isErrorBody(body) ? { is: 'refused', status, error: body } : { is: 'unreachable', why: `it answers ${status}` };
  } catch (error) {
    const { code, name } = error as NodeJS.ErrnoException;
    const why =
      name === 'TimeoutError' || name === 'AbortError' ? `no answer within ${request.timeoutMs / 1000} s` : (code ?? name);
    return { is: 'unreachable', why };
  }
}

/** Anything may listen on that port; a refusal counts only in this service's own form. */
const isErrorBody = (body: unknown): body is ErrorBody =>
  typeof body === 'object' &&
  body !== null &&
  'ok' in body &&
  body.ok === false &&
  'error' in body &&
  typeof body.error === 'string';
