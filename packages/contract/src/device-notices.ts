import type { Static } from './schema.ts';

/** Notifications between devices and their gateway, in both directions. Times are epoch ms. */

/** Body of `PUT /gw/push`: `PushSubscription.toJSON()` of the browser. */
export const pushSubscriptionSchema = {
  type: 'object',
  required: ['endpoint', 'keys'],
  properties: {
    endpoint: { type: 'string', minLength: 1, maxLength: 2048 },
    keys: {
      type: 'object',
      required: ['p256dh', 'auth'],
      properties: {
        p256dh: { type: 'string', pattern: '^[A-Za-z0-9_-]{80,100}={0,2}$' },
        auth: { type: 'string', pattern: '^[A-Za-z0-9_-]{20,30}={0,2}$' },
      },
    },
  },
} as const;
export type PushSubscriptionBody = Static<typeof pushSubscriptionSchema>;

/** Message to a browser. `text`, the beginning of the answer, is only included if the owner has enabled it. */
export type PushMessage = { type: 'answer'; text?: string };

/** Body of `POST /gw/notify-triage`: unchanged notifications of other apps on the device. Their text is data, never instructions. */
export const notifyTriageSchema = {
  type: 'object',
  required: ['notifications'],
  properties: {
    notifications: {
      type: 'array',
      minItems: 1,
      maxItems: 50,
      items: {
        type: 'object',
        properties: {
          app: { type: 'string', maxLength: 1_000 },
          title: { type: 'string', maxLength: 10_000 },
          text: { type: 'string', maxLength: 50_000 },
          posted_at: { type: 'number', minimum: 0 },
        },
      },
    },
  },
} as const;
export type NotifyTriageRequest = Static<typeof notifyTriageSchema>;

export const notePriorities = ['low', 'normal', 'high'] as const;
/**
 * Its answer: whether the device speaks now, the priority, and the text. When requests were gathered into one batch, the first
 * gets the answer; the others get none (`speak` false, no text).
 */
export type NotifyTriage = { speak: boolean; priority: (typeof notePriorities)[number]; synopsis: string };
