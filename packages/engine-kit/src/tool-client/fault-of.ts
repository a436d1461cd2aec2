import type { ToolServerFault } from '@svc/contract/tool-server.ts';
import { SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';

/** `reason` begins small and ends without a full stop. */
type Told = { fault: ToolServerFault; reason: string };

/** Why a server could not be reached or did not answer. */
export function faultOf(error: unknown, limitMs: number): Told {
  if (error instanceof SdkError) {
    if (error.code === SdkErrorCode.RequestTimeout) {
      return { fault: 'timeout', reason: `it did not answer within ${Math.round(limitMs / 1000)} s` };
    }
    if (error.code === SdkErrorCode.ClientHttpUnexpectedContent)
      return { fault: 'no_server', reason: 'it answers, but does not speak MCP' };
    if (error.code === SdkErrorCode.ConnectionClosed)
      return { fault: 'ended', reason: 'its program ended, or sent too much, before it answered' };
  }
  if (error instanceof SdkHttpError) return ofStatus(error.status, error.message);
  const { code, message, cause, path } = error as NodeJS.ErrnoException & { cause?: NodeJS.ErrnoException };
  if (code === 'ENOENT') return { fault: 'no_program', reason: `there is no program ${path ?? 'of this name'}` };
  if (code === 'EACCES') return { fault: 'no_program', reason: `${path ?? 'its program'} must not be run` };
  if (cause?.code === 'ECONNREFUSED') return { fault: 'unreachable', reason: 'nothing listens at its address' };
  if (cause?.code === 'ENOTFOUND') return { fault: 'unreachable', reason: 'there is no such host' };
  const text = cause?.message ?? message ?? String(error);
  return { fault: cause === undefined ? 'other' : 'unreachable', reason: oneLine(text) };
}

const oneLine = (text: string): string =>
  text
    .slice(0, 300)
    .replaceAll(/\s+/g, ' ')
    .replace(/[.\s]+$/, '');

function ofStatus(status: number | undefined, message: string): Told {
  if (status === 401 || status === 403) {
    return {
      fault: 'refused',
      reason: `it refuses the caller (${status}); it takes a key in a header, or a login, which cannot be done here`,
    };
  }
  if (status === 404 || status === 405)
    return { fault: 'no_server', reason: `it answers, but has no MCP server at this path (${status})` };
  return { fault: 'other', reason: status === undefined ? message : `it answers with status ${status}` };
}
