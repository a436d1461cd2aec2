import { sendJson, type Exchange } from '@svc/connector-kit';

/** Answers with what is for this device alone: nothing on the way keeps it. */
export const reply = (exchange: Exchange, body: object, status = 200): void =>
  sendJson(exchange, { status, headers: { 'cache-control': 'no-store' }, body: JSON.stringify(body) });
