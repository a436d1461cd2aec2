/** USD per 1,000,000 tokens. A cache price that is missing is the price of `in`. */
export type ModelPrice = { in: number; out: number; cache_read?: number; cache_write?: number };

/** List prices by the beginning of a model's id: `tts` in USD per 1,000 characters, `stt` in USD per minute of audio. */
export type PriceTable = {
  models: Record<string, ModelPrice>;
  tts: Record<string, number>;
  stt: Record<string, number>;
};

/** A model that was used since the start though its price is not known; null where the engine named none. */
export type UnpricedModel = { engine_id: string; model: string | null; runs: number };

/** Answer of `GET /v2/pricing`: the prices in force and where they came from. */
export type PricingReport = PriceTable & {
  source: {
    /** Month in which the built-in prices were looked up. */
    built_in: string;
    file: string;
    /** `none`: there is no file. `refused`: it is faulty, and the prices are those of before. */
    file_state: 'none' | 'applied' | 'refused';
    /** Epoch ms of the last look at the file. */
    loaded_at: number;
    fault: string | null;
    /** What the file sets. */
    from_file: Record<keyof PriceTable, string[]>;
  };
  unpriced: UnpricedModel[];
};
