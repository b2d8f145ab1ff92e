"""The numbers of one reply as its reader saw it, from stamps alone. Pure.

arrivals -> gaps, quality, reading, stages -> numbers;  formulas says in words what each one means
"""
