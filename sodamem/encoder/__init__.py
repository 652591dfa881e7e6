"""Text to vectors: `lsa` is fitted on the store itself and needs no download, the others are pretrained.

Every encoder gives float32 [n, d] rows of unit norm. A text in which the encoder knows nothing (a blank one, or for
LSA one without a known word) is a row of zeros: its similarity to anything is 0 and an index never returns it.
"""
