export type InputStream<Item> = AsyncIterable<Item> & { push(item: Item): void; end(): void };

/** An async stream that stays open until it is ended, from which the SDK reads user messages. */
export function createInputStream<Item>(): InputStream<Item> {
  const items: Item[] = [];
  let ended = false;
  let wake = () => {};
  return {
    push(item) {
      items.push(item);
      wake();
    },
    end() {
      ended = true;
      wake();
    },
    async *[Symbol.asyncIterator]() {
      while (!ended) {
        const item = items.shift();
        if (item !== undefined) yield item;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
}
