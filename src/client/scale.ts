import type { ShardsView, ShardView } from '../core/shards/shards.ts';
import type { DefinitionScale, ScaleView } from '../core/views/scale.ts';

/** The load, and the number of slots that it needs. */
export type Scale = ScaleView;
export type { DefinitionScale };

/** All shards with their load. */
export type Shards = ShardsView;
export type Shard = ShardView;

export interface ScaleOptions {
  /** In which time the backlog should drain: 1 to 3600; default 60. */
  targetSeconds?: number | undefined;
}
