"""The numbers of one reply as its reader saw it, from stamps alone. Pure.

arrivals -> gaps, quality -> numbers;  reading counts words, terminal_strip draws, formulas says what is meant
"""
