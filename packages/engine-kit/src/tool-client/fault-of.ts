import type { ToolServerFault } from '@svc/contract/tool-server.ts';
import { SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';

/** `reason` begins in lower case and has no full stop. */
type ServerFault = { fault: ToolServerFault; reason: string };

/** Why a server could not be reached, or did not answer. */
export function faultOf(error: unknown, limitMs: number): ServerFault {
  if (error instanceof SdkError) {
    if (error.code === SdkErrorCode.RequestTimeout) {
      return { fault: 'timeout', reason: `it did not answer within ${Math.round(limitMs / 1000)} s` };
    }
    if (error.code === SdkErrorCode.ClientHttpUnexpectedContent)
      return { fault: 'no_server', reason: 'it answers, but does not speak MCP' };
    if (error.code === SdkErrorCode.ConnectionClosed)
      return { fault: 'ended', reason: 'its program ended or sent too much before it answered' };
  }
  if (error instanceof SdkHttpError) return ofStatus(error.status, error.message);
  if (!(error instanceof Error)) return { fault: 'other', reason: oneLine(typeof error === 'string' ? error : '') };
  const { code, message, path } = error as NodeJS.ErrnoException;
  const cause = error.cause instanceof Error ? (error.cause as NodeJS.ErrnoException) : undefined;
  if (code === 'ENOENT') return { fault: 'no_program', reason: `there is no program ${path ?? 'of this name'}` };
  if (code === 'EACCES') return { fault: 'no_program', reason: `${path ?? 'its program'} cannot be run: permission denied` };
  const known = unreachable.get(cause?.code);
  if (known !== undefined) return { fault: 'unreachable', reason: known };
  return { fault: cause === undefined ? 'other' : 'unreachable', reason: oneLine(cause?.message ?? message) };
}

const unreachable = new Map<string | undefined, string>([
  ['ECONNREFUSED', 'nothing listens at its address'],
  ['ECONNRESET', 'the connection was closed'],
  ['EHOSTUNREACH', 'its host cannot be reached'],
  ['ENETUNREACH', 'its host cannot be reached'],
  ['ENOTFOUND', 'its host name does not exist'],
  ['EAI_AGAIN', 'its host name cannot be resolved at the moment'],
  ['ETIMEDOUT', 'its host does not answer'],
  ['UND_ERR_CONNECT_TIMEOUT', 'its host does not answer'],
]);

const oneLine = (text: string): string =>
  text
    .slice(0, 300)
    .replaceAll(/\s+/g, ' ')
    .replace(/[.\s]+$/, '')
    .trim() || 'it failed without a reason';

function ofStatus(status: number | undefined, message: string): ServerFault {
  if (status === 401 || status === 403) {
    return {
      fault: 'refused',
      reason: `it refused the request (${status}): set a key with --header; signing in with a browser is not supported`,
    };
  }
  if (status === 404 || status === 405)
    return { fault: 'no_server', reason: `it answers, but has no MCP server at this path (${status})` };
  return { fault: 'other', reason: status === undefined ? oneLine(message) : `it answered with status ${status}` };
}
