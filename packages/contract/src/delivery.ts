export const deliveryStates = ['pending', 'delivered', 'failed'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/** A reply on its way to a channel by itself, apart from the connection that asked for it. Times are epoch ms. */
export type Delivery = {
  id: string;
  turn_id: string;
  conversation_key: string;
  /** Where it goes; null when it has no place to go. */
  instance_id: string | null;
  target: string | null;
  text: string;
  /** True for the reply to an operator's words. */
  injected: boolean;
  state: DeliveryState;
  attempts: number;
  /** When it is tried next; null when it is settled. */
  next_at: number | null;
  /** Why it is not delivered, for a person to read. */
  error: string | null;
  created_at: number;
  updated_at: number;
};

/** How many replies are still tried, and how many are not any more. */
export type DeliveryCounts = { pending: number; failed: number };

/** Answer of `GET /v2/deliveries`, newest first. `next` is the `before` of the page behind this one, null on the last. */
export type DeliveryPage = DeliveryCounts & { deliveries: Delivery[]; next: number | null };
