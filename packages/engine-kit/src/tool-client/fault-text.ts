import { SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';

/** Why a server could not be reached or did not answer. Begins small and ends without a full stop. */
export function faultText(error: unknown, limitMs: number): string {
  if (error instanceof SdkHttpError) return statusText(error.status, error.message);
  if (error instanceof SdkError) {
    if (error.code === SdkErrorCode.RequestTimeout) return `it did not answer within ${limitMs / 1000} s`;
    if (error.code === SdkErrorCode.ConnectionClosed) return 'it ended before it answered';
  }
  const { code, message, cause, path } = error as NodeJS.ErrnoException & { cause?: NodeJS.ErrnoException };
  if (code === 'ENOENT') return `there is no program ${path ?? 'of this name'}`;
  if (code === 'EACCES') return `${path ?? 'the program'} must not be run`;
  if (cause?.code === 'ECONNREFUSED') return 'nothing listens at this address';
  if (cause?.code === 'ENOTFOUND') return 'there is no such host';
  const text = cause?.message ?? message ?? String(error);
  return text.replace(/[.\s]+$/, '');
}

function statusText(status: number | undefined, message: string): string {
  switch (status) {
    case 401:
    case 403:
      return `it refuses the caller (${status}): it takes a key in a header, or a login, which cannot be done here`;
    case 404:
    case 405:
      return `it answers, but has no MCP server at this path (${status})`;
    default:
      return status === undefined ? message : `it answers with status ${status}`;
  }
}
