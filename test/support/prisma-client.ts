import { Buffer } from 'node:buffer';
import type { PrismaPg } from '@prisma/adapter-pg';
import {
  type ClientOtherOps,
  getPrismaClient,
  type ITXClientDenyList,
} from '@prisma/client/runtime/client';

/**
 * Prisma's own client for one model, `model Order { id Int @id }`. `prisma generate` writes this
 * configuration and two thousand lines of types; the tests need two methods of them. To renew it,
 * run `npx prisma generate` elsewhere and copy the values of `config` from `internal/class.ts`.
 */
const STRINGS =
  'where Order.findUnique Order.findUniqueOrThrow orderBy cursor Order.findFirst Order.findFirstOrThrow Order.findMany data Order.createOne Order.createMany Order.createManyAndReturn Order.updateOne Order.updateMany Order.updateManyAndReturn create update Order.upsertOne Order.deleteOne Order.deleteMany having _count _avg _sum _min _max Order.groupBy Order.aggregate AND OR NOT id equals in notIn lt lte gt gte not set increment decrement multiply divide';
const GRAPH =
  'JgsQBBwAAB8AMB0AAAQAEB4AAB8AMB8CAAAAAQEAAAABACABAAAAAQAgBBwAAB8AMB0AAAQAEB4AAB8AMB8CACAAIQADAAAABAAgAwAABQAwBAAAAQAgAwAAAAQAIAMAAAUAMAQAAAEAIAMAAAAEACADAAAFADAEAAABACABHwIAAAABAQgAAAkAIAEfAgAAAAEBCAAACwAwAQgAAAsAMAEfAgAmACECAAAAAQAgCAAADgAgAR8CACYAIQIAAAAEACAIAAAQACACAAAABAAgCAAAEAAgAwAAAAEAIA8AAAkAIBAAAA4AIAEAAAABACABAAAABAAgBRUAACEAIBYAACIAIBcAACUAIBgAACQAIBkAACMAIAQcAAAaADAdAAAXABAeAAAaADAfAgAbACEDAAAABAAgAwAAFgAwFAAAFwAgAwAAAAQAIAMAAAUAMAQAAAEAIAQcAAAaADAdAAAXABAeAAAaADAfAgAbACENFQAAHQAgFgAAHgAgFwAAHQAgGAAAHQAgGQAAHQAgIAIAAAABIQIAAAAEIgIAAAAEIwIAAAABJAIAAAABJQIAAAABJgIAAAABJwIAHAAhDRUAAB0AIBYAAB4AIBcAAB0AIBgAAB0AIBkAAB0AICACAAAAASECAAAABCICAAAABCMCAAAAASQCAAAAASUCAAAAASYCAAAAAScCABwAIQggAgAAAAEhAgAAAAQiAgAAAAQjAgAAAAEkAgAAAAElAgAAAAEmAgAAAAEnAgAdACEIIAgAAAABIQgAAAAEIggAAAAEIwgAAAABJAgAAAABJQgAAAABJggAAAABJwgAHgAhBBwAAB8AMB0AAAQAEB4AAB8AMB8CACAAIQggAgAAAAEhAgAAAAQiAgAAAAQjAgAAAAEkAgAAAAElAgAAAAEmAgAAAAEnAgAdACEAAAAAAAUoAgAAAAEpAgAAAAEqAgAAAAErAgAAAAEsAgAAAAEAAAAABRUABhYABxcACBgACRkACgAAAAAABRUABhYABxcACBgACRkACgECAQIDAQUGAQYHAQcIAQkKAQoMAgsNAwwPAQ0RAg4SBBETARIUARMVAhoYBRsZCw';

const COMPILER = '@prisma/client/runtime/query_compiler_fast_bg.postgresql';

const { WebAssembly } = globalThis as unknown as {
  WebAssembly: { Module: new (bytes: Uint8Array) => unknown };
};

interface OrderClient extends Pick<ClientOtherOps, '$queryRawUnsafe'> {
  order: { create(row: { data: { id: number } }): PromiseLike<unknown> };
  $transaction(work: (tx: Omit<OrderClient, ITXClientDenyList>) => Promise<void>): Promise<void>;
  $connect(): Promise<void>;
  $disconnect(): Promise<void>;
}

export const PrismaClient = getPrismaClient({
  previewFeatures: [],
  clientVersion: '7.10.1',
  engineVersion: 'd1b3f377ca835d73fd50954a5e22128b9ebdd6b8',
  activeProvider: 'postgresql',
  inlineSchema:
    'generator client {\n  provider = "prisma-client"\n  output   = "./gen"\n}\n\ndatasource db {\n  provider = "postgresql"\n}\n\nmodel Order {\n  id Int @id\n}\n',
  runtimeDataModel: {
    models: {
      Order: { fields: [{ name: 'id', kind: 'scalar', type: 'Int' }], dbName: null, schema: null },
    },
    enums: {},
    types: {},
  },
  parameterizationSchema: { strings: STRINGS.split(' '), graph: GRAPH },
  compilerWasm: {
    getRuntime: async () => await import(`${COMPILER}.mjs`),
    getQueryCompilerWasmModule: async () => {
      const { wasm } = (await import(`${COMPILER}.wasm-base64.mjs`)) as { wasm: string };
      return new WebAssembly.Module(Buffer.from(wasm, 'base64'));
    },
    importName: './query_compiler_fast_bg.js',
  },
} as never) as unknown as new (options: { adapter: PrismaPg }) => OrderClient;
