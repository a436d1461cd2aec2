export const deliveryStates = ['pending', 'delivered', 'failed'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/** A reply that is pushed to a channel, independently of the connection of its request. Times are epoch ms. */
export type Delivery = {
  id: string;
  turn_id: string;
  conversation_key: string;
  /** Where it is sent; null when there is no route. */
  instance_id: string | null;
  target: string | null;
  text: string;
  /** True for the reply to an operator's words. */
  injected: boolean;
  state: DeliveryState;
  attempts: number;
  /** When it is tried next; null when it is final. */
  next_at: number | null;
  /** Why it is not delivered, for a person to read. */
  error: string | null;
  created_at: number;
  updated_at: number;
};

/** How many replies are still being tried, and how many have failed. */
export type DeliveryCounts = { pending: number; failed: number };

/** Answer of `GET /v2/deliveries`, newest first. `next` is the `before` of the page behind this one, null on the last. */
export type DeliveryPage = DeliveryCounts & { deliveries: Delivery[]; next: number | null };
