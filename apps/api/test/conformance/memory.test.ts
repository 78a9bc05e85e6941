import { openMemory } from './open-memory.ts'
import { recordStoreConformance } from './record-store-conformance.ts'

recordStoreConformance('the memory store', openMemory)
