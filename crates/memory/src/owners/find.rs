//! From the blocks of a process to their owners.

use super::content::{ContentDepth, Contents, inspect_blocks};
use super::held::name_holders;
use super::index::BlockIndex;
use super::room::Room;
use super::roots::take_all;
use super::search::{Claims, Search, Searched};
use crate::entry_table::EntryTable;
use crate::jvm::Jvm;
use assay_allocators::Survey;
use assay_linux::MemorySource;

/// Takes owners from the tags of native memory tracking and from the blocks' own content. Nothing beside
/// the blocks is read, and no pointer followed.
pub(crate) fn read_tags(
    source: &dyn MemorySource,
    jvm: &Jvm<'_>,
    survey: &Survey,
    entries: &mut EntryTable,
) -> Claims {
    let index = BlockIndex::new(&survey.blocks, &survey.ranges, jvm.tracked_header_bytes());
    let room = Room::for_blocks(survey.blocks.len(), true);
    let Contents { owners, slack, .. } =
        inspect_blocks(source, Some(jvm), &index, ContentDepth::Tags, room, entries);
    Claims { owners, slack, ..Claims::default() }
}

/// Finds the owners of all blocks in use, and of the regions that no structure names.
pub(crate) fn find_owners(
    source: &dyn MemorySource,
    jvm: Option<&Jvm<'_>>,
    survey: &Survey,
    searched: Searched<'_>,
    entries: &mut EntryTable,
) -> Claims {
    let header_bytes = jvm.map_or(0, Jvm::tracked_header_bytes);
    let index = BlockIndex::new(&survey.blocks, &survey.ranges, header_bytes);
    let wanted = ContentDepth::Pointers { hide_tags: searched.ignore_nmt };
    let blocks = survey.blocks.len();
    let room = Room::for_blocks(blocks, header_bytes != 0);
    let contents = inspect_blocks(source, jvm, &index, wanted, room, entries);
    let mut search = Search::new(source, index, contents, room, survey, searched);
    take_all(&mut search, jvm, entries);
    if let Some(jvm) = jvm {
        name_holders(&mut search, jvm, entries);
    }
    search.into_claims()
}
