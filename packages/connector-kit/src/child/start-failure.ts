import { errorText } from '@svc/service-kit/service-error.ts';

type SystemError = Error & { code?: string; address?: string; port?: number; permission?: string; resource?: string };

/** Why a start failed, for the operator: what is wrong and what to do. Most readers do not know system error codes. */
export function startFailure(error: unknown, config: Record<string, unknown>): string {
  if (!(error instanceof Error)) return errorText(error);
  const { code, address, port, permission, resource } = error as SystemError;
  const wanted = port ?? config['port'] ?? config['http_port'];
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${String(wanted)} is in use by another program. Stop it or choose another port for this instance.`;
    case 'EACCES':
      return wanted === undefined ? error.message : `This user may not open port ${String(wanted)}. Choose a port above 1023.`;
    case 'EADDRNOTAVAIL':
      return `This machine has no address ${String(address ?? config['bind_host'])}. Correct bind_host.`;
    case 'ERR_ACCESS_DENIED':
      return refusal(error.message, permission, resource);
    case 'ERR_MODULE_NOT_FOUND':
      return `A part of this connector is not installed: ${error.message}`;
    default:
      return withPlace(error);
  }
}

/** Adds the file and line of an error in the connector's code, which its message leaves out. */
function withPlace(error: Error): string {
  const isSlip = error instanceof SyntaxError || error instanceof ReferenceError || error instanceof TypeError;
  const place = isSlip && error.cause === undefined ? placeOf(error) : undefined;
  return place === undefined ? errorText(error) : `${errorText(error)} (${place})`;
}

/** File and line: the first of the stack for code that cannot be parsed, or else of the innermost frame in a file. */
function placeOf({ stack = '' }: Error): string | undefined {
  const place = /^(?:file:\/\/)?(\/.+:\d+)$/m.exec(stack)?.[1] ?? /^ +at .*?file:\/\/(\/.+:\d+):\d+\)?$/m.exec(stack)?.[1];
  return place === undefined ? undefined : decodeURI(place);
}

/** Names what a confined process may not do, and where its type would ask for it. */
function refusal(message: string, permission: string | undefined, resource: string | undefined): string {
  const what = { FileSystemRead: 'read', FileSystemWrite: 'write' }[permission ?? ''];
  const refused = what === undefined ? message : `It may not ${what} ${resource}.`;
  return `${refused} It may use its own folder; for more, its type must ask in meta.permissions.`;
}
