import type { Exchange } from '@svc/connector-kit';

const isDocument = (id: string): boolean => /^https:/i.test(id);

/** The clients of a form that name a document as their id, wherever the form says who sends it. */
export function namedDocuments({ headers }: Exchange['req'], form: Buffer): string[] {
  const ids = [...new URLSearchParams(form.toString()).getAll('client_id'), ...basicId(headers.authorization)];
  return [...new Set(ids)].filter(isDocument);
}

/** The user of a basic authorization, encoded as a form's field (RFC 6749, 2.3.1). */
function basicId(authorization = ''): string[] {
  const [, value] = /^Basic +([^ ]+)$/i.exec(authorization) ?? [];
  if (value === undefined) return [];
  const [id = ''] = Buffer.from(value, 'base64').toString().split(':', 1);
  // Its colon is encoded, or it would end there.
  return [new URLSearchParams(`id=${id}`).get('id') ?? ''];
}
