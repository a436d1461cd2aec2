import { sendJson, type Exchange } from '@svc/connector-kit';

/** Answers with data for this device alone, so that no cache stores it. */
export const reply = (exchange: Exchange, body: object, status = 200): void =>
  sendJson(exchange, { status, headers: { 'cache-control': 'no-store' }, body: JSON.stringify(body) });
